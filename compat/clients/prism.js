/** Starts Prism as a proxy that compares every exchange with the document. https://github.com/stoplightio/prism */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const path = relative => fileURLToPath(new URL(relative, import.meta.url))

/**
 * Starts Prism on a free port of 127.0.0.1, in front of a server.
 *
 * `close()` ends it and resolves to its results: `checked`, the number of answers of the server, and `violations`, lines
 * of its log. Rejects if Prism does not start.
 */
export async function startPrism(upstream, ...options) {
  const document = path('../../openapi/payments-service.json')
  const args = [path('node_modules/.bin/prism'), 'proxy', document, upstream, '--port', '0', ...options]
  const prism = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = []
  const url = await new Promise((resolve, reject) => {
    prism.on('close', () => reject(new Error(lines.join('\n'))))
    createInterface(prism.stdout).on('line', line => {
      lines.push(line)
      const [, address] = line.match(/Prism is listening on (\S+)/) ?? []
      if (address) resolve(address)
    })
  })
  return {
    url,
    async close() {
      prism.kill()
      if (prism.exitCode === null && prism.signalCode === null) await once(prism, 'close')
      return {
        checked: lines.filter(line => line.includes('The upstream call to')).length,
        violations: lines.filter(line => /Violation: |Request terminated/.test(line)),
      }
    },
  }
}
