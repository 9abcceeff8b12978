import { get } from 'node:http'

const READY = '/_sandbox/health/ready'
const PATIENCE_MS = 2000

/** Whether a sandbox on this machine answers that it is ready. Addresses that mean "all" are probed on loopback. */
export function isReady(host: string, port: number): Promise<boolean> {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return new Promise(resolve => {
    const request = get({ host: reachable, port, path: READY, timeout: PATIENCE_MS, agent: false }, response => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    request.on('timeout', () => request.destroy())
    request.on('error', () => resolve(false))
  })
}
