import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { skip } from '../docs/walk.js'
import { requestTokenAt } from '../program.js'
import { install } from './install.js'

t.test('fidelity, Documented and assumed: compare and import, with a capture of the sandbox', { skip }, async t => {
  const { bin, start } = install()
  const { url } = await start(t)
  const { access_token } = await (await requestTokenAt(url)).json()
  const headers = { authorization: `Bearer ${access_token}`, 'x-region': 'EU' }
  for (const path of ['mandates?limit=2', 'bills', 'accounts']) {
    await (await fetch(`${url}/api/v1/${path}`, { headers })).text()
  }
  const har = await (await fetch(`${url}/_sandbox/requests?client=sandbox-client&format=har`)).json()
  const folder = t.testdir()
  const compare = async (name: string, content: unknown) => {
    writeFileSync(join(folder, name), JSON.stringify(content))
    return bin(['compare', join(folder, name)])
  }
  t.match(await compare('same.har', har), { code: 0, stderr: '', stdout: /^4 of 4 entries are of the interface/ })
  har.log.entries[1].response.status = 206
  t.match(await compare('other.har', har), { code: 1, stderr: '', stdout: /status 206, where 200 is expected/ })
  const imported = await bin(['import', join(folder, 'same.har'), '--url', url, '--client', 'yesterday'])
  t.match(imported, {
    code: 0,
    stderr: '',
    stdout: /^yesterday has the records of the capture: mandates 2, .* bills \d+/,
  })
})
