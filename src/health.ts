import { get } from 'node:http'

const READY = '/_sandbox/health/ready'
const TIMEOUT_MS = 2000

/** Returns the URL of a server on this machine: by the loopback address for a wildcard address. */
export function localUrl(host: string, port: number): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}

/** Checks the readiness of a server. @param url without a trailing slash */
export async function isReady(url: string): Promise<boolean> {
  const request = url.startsWith('https:') ? (await import('node:https')).get : get
  return new Promise(resolve => {
    const sent = request(`${url}${READY}`, { timeout: TIMEOUT_MS, agent: false }, response => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    sent.on('timeout', () => sent.destroy())
    sent.on('error', () => resolve(false))
  })
}
