import { get } from 'node:http'

const READY = '/_sandbox/health/ready'
const TIMEOUT_MS = 2000

/** Checks the readiness of a server on this machine. Uses the loopback address for a wildcard address. */
export function isReady(host: string, port: number): Promise<boolean> {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return new Promise(resolve => {
    const request = get({ host: reachable, port, path: READY, timeout: TIMEOUT_MS, agent: false }, response => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    request.on('timeout', () => request.destroy())
    request.on('error', () => resolve(false))
  })
}
