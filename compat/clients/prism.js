/** Starts Prism as a proxy that compares every exchange with the document. https://github.com/stoplightio/prism */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const path = relative => fileURLToPath(new URL(relative, import.meta.url))

/** The path of the last request. Prism writes its log late, and the line of this request ends it. */
const LAST = '/last-request'

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
  const ended = once(prism, 'close')
  const lines = []
  const log = createInterface(prism.stdout).on('line', line => lines.push(line))

  /** Returns the log up to a line that contains the text. Rejects if Prism ends before. */
  async function logUntil(text) {
    const end = () => lines.findIndex(line => line.includes(text))
    while (end() < 0) {
      const [line] = await Promise.race([once(log, 'line'), ended])
      if (typeof line !== 'string') throw new Error(`Prism has ended: ${lines.join('\n')}`)
    }
    return lines.slice(0, end() + 1)
  }

  const [, url] = (await logUntil('Prism is listening on')).at(-1).match(/listening on (\S+)/)

  async function end() {
    await fetch(url + LAST)
    const exchanges = (await logUntil(LAST)).slice(0, -1)
    prism.kill()
    await ended
    return {
      checked: exchanges.filter(line => line.includes('The upstream call to')).length,
      violations: exchanges.filter(line => /Violation: |Request terminated/.test(line)),
    }
  }
  let results
  return {
    url,
    close() {
      results ??= end()
      return results
    },
  }
}
