import { once } from 'node:events'
import type { Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer as createTcpServer } from 'node:net'
import t, { type Test } from 'tap'
import { isReady, localUrl } from '../../src/health.js'
import { freePort } from '../free-port.js'

/** A server that answers every request in one way, and notes the paths. */
async function serve(t: Test, answer: (respond: (status: number) => void) => void, host = '127.0.0.1') {
  const paths: (string | undefined)[] = []
  const server: Server = createServer((request, response) => {
    paths.push(request.url)
    answer(status => response.writeHead(status).end('{}'))
  })
  server.listen(0, host)
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, paths }
}

t.test('control plane, GET /health/ready: `health` accepts only 200', async t => {
  for (const status of [200, 503, 500, 404, 204, 302]) {
    const { port, paths } = await serve(t, respond => respond(status))
    t.equal(await isReady(localUrl('127.0.0.1', port)), status === 200, String(status))
    t.same(paths, ['/_sandbox/health/ready'])
  }
})

t.test('control plane, GET /health/ready: a server that listens everywhere is probed on this machine', async t => {
  const ok = (host: string) => serve(t, respond => respond(200), host)
  t.equal(await isReady(localUrl('0.0.0.0', (await ok('0.0.0.0')).port)), true)
  const ofIPv6 = await ok('::').catch(() => undefined)
  t.equal(await isReady(localUrl('::', ofIPv6?.port ?? 1)), ofIPv6 !== undefined, 'the same with IPv6, if it is here')
})

t.test('control plane, GET /health/ready: without a listener, or one that speaks HTTP, it is not ready', async t => {
  t.equal(await isReady(localUrl('127.0.0.1', await freePort())), false)
  const server = createTcpServer(socket => socket.end('hello\r\n')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  t.equal(await isReady(localUrl('127.0.0.1', (server.address() as AddressInfo).port)), false)
})

t.test('control plane, GET /health/ready: a server that never answers is not ready, after 2 s', async t => {
  const { port, paths } = await serve(t, () => {})
  t.equal(await isReady(localUrl('127.0.0.1', port)), false)
  t.equal(paths.length, 1)
})
