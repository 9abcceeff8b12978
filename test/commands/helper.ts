import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import type { Result } from '../command.js'
import { command } from '../command.js'
import type { BuildOptions } from '../helper.js'
import { build, mandate } from '../helper.js'

/** A server on a free port, with the records of a test, and its commands. */
export interface Sandbox {
  readonly app: FastifyInstance
  readonly url: string
  /** Runs a command for the client `shop`. */
  run(...args: string[]): Promise<Result>
  /** Runs a command that prints JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of any shape
  json(...args: string[]): Promise<any>
}

/** Starts a server. The client `shop` has the mandate MND-0001 and a PENDING collection COL-0001. */
export async function start(
  t: Test,
  options: BuildOptions = {},
  settings: Record<string, string> = {},
): Promise<Sandbox> {
  const app = build(t, options)
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const run = (...args: string[]) => command(args, { SANDBOX_URL: url, SANDBOX_CLIENT: 'shop', ...settings })
  const json = async (...args: string[]) => {
    const { stdout, stderr } = await run(...args, '--json')
    if (stderr !== '') throw new Error(stderr)
    return JSON.parse(stdout)
  }
  await run('token')
  const pending = { mandateReference: 'MND-0001', amount: '49.90', currency: 'EUR', collectionDate: '2026-11-09' }
  const records = { mandates: [mandate()], collections: [{ collectionReference: 'COL-0001', ...pending }] }
  await run('seed', '--records', JSON.stringify(records))
  return { app, url, run, json }
}
