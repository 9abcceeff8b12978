import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import fastify from 'fastify'
import type { BuildOptions, Client } from '../helper.js'
import { build, connect } from '../helper.js'

interface Teardown {
  teardown(close: () => Promise<unknown>): void
}

/** A sandbox that listens, for a browser. */
export interface Site {
  readonly app: FastifyInstance
  readonly client: Client
  readonly url: string
}

/** Starts a sandbox with a frozen clock on a free port. */
export async function startSite(t: Teardown, options: BuildOptions = {}): Promise<Site> {
  let url = ''
  const app = build(t, { publicUrl: () => url, ...options })
  url = await app.listen({ host: '127.0.0.1', port: 0 })
  return { app, client: await connect(app), url }
}

/**
 * Starts a proxy that serves a site below a path, and passes on the host that the browser uses.
 * @param urlOf returns the URL of the site. @returns the port of the proxy
 */
export async function startProxy(t: Teardown, path: string, urlOf: () => string): Promise<number> {
  const server = createServer((incoming, outgoing) => {
    const { method, headers, url = '' } = incoming
    const { hostname, port } = new URL(urlOf())
    const options = { hostname, port, path: url.replace(path, ''), method, headers }
    const forwarded = request(options, answer => {
      outgoing.writeHead(answer.statusCode as number, answer.headers)
      answer.pipe(outgoing)
    })
    incoming.pipe(forwarded)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** The page of docs/payout-pages.md to copy, for a server at a URL. */
function partnerPage(url: string): string {
  const [, page = ''] = /^```html\n(.*?)^```$/ms.exec(readFileSync('docs/payout-pages.md', 'utf8')) ?? []
  return page.replace('http://127.0.0.1:8080', url)
}

/** Starts the site of a partner. Returns its port: it has the same page for each of its names. */
export async function startPartner(t: Teardown, { url }: Site): Promise<number> {
  const app = fastify()
  app.get('/', (_request, reply) => reply.type('text/html').send(partnerPage(url)))
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())
  return (app.server.address() as AddressInfo).port
}
