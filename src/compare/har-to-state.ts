/**
 * Reads a HAR file from the standard input, and writes a state document to the standard output. It is the process that
 * src/console/har-reader.ts begins. A refusal is an error envelope with the exit code 2, and a failure its stack with 1.
 */
import { buffer } from 'node:stream/consumers'
import { REFUSED } from '../console/har-reader.js'
import { ApiError, errors } from '../core/errors.js'
import { atOnce } from '../core/slices.js'
import { parseLargeJson } from '../http/json-body.js'
import { compare } from './compare.js'
import { captureOf, HarError } from './har.js'
import { recordsOf, toState } from './state.js'

const [clientId = '', stateBytes] = process.argv.slice(2)

try {
  const document = atOnce(parseLargeJson(await buffer(process.stdin), Number(stateBytes)))
  const capture = captureOf(document, 'the file')
  const captured = await compare(capture, undefined, found => recordsOf(found, false))
  process.stdout.write(JSON.stringify(toState(captured, clientId)))
} catch (error) {
  const refusal = error instanceof HarError ? errors.invalid('file', `${error.message}.`) : error
  const isRefusal = refusal instanceof ApiError
  process.exitCode = isRefusal ? REFUSED : 1
  process.stdout.write(isRefusal ? JSON.stringify(refusal.envelope) : stackOf(error as Error))
}

/** Returns the stack of an error without its message, which can quote the file. */
function stackOf({ name, message, stack = '' }: Error): string {
  return `${name}${stack.replace(message, '').replace(name, '')}`
}
