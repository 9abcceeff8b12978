import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { openBrowser } from './browser.js'
import { needsChromium } from './chromium.js'

t.test('CONTRIBUTING, A page for browsers: the browser opens pages of this machine only', needsChromium, async t => {
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'text/html').end(`<title>${request.headers.host}</title>`)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => new Promise<void>(resolve => server.close(() => resolve())))
  const { port } = server.address() as AddressInfo
  const browser = await openBrowser(t)
  const page = await browser.newPage()

  await page.goto(`http://shop.example:${port}/`)
  t.equal(await page.title(), `shop.example:${port}`)
  await page.goto(`http://127.0.0.1:${port}/`)
  t.equal(await page.title(), `127.0.0.1:${port}`)
  await t.rejects(page.goto(`http://other.example:${port}/`), /ERR_NAME_NOT_RESOLVED/)
})
