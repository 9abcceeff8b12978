import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import type { Answer } from './helper.js'
import { connect } from './helper.js'

/** An answer of `call` or of a raw connection. */
export type Given = Pick<Answer, 'status' | 'body' | 'headers'>

/** The members of an error, and those of the token endpoint (decisions §3). */
const ENVELOPES = ['code,field,message', 'code,error,error_description,field,message']

/**
 * Returns an answer in one line: `201`, or `400 INVALID_FIELD amount`. A refusal without the members and headers that
 * every refusal has (interface, Errors; decisions §1) is shown whole, so that the comparison fails.
 */
export function gist(answer: Given | undefined): string {
  if (answer === undefined) return 'no answer'
  const { status, body, headers } = answer
  if (!headers['x-request-id']) return `${status} without x-request-id`
  if (status < 400) return `${status}`
  const isEnvelope =
    ENVELOPES.includes(
      Object.keys(body ?? {})
        .sort()
        .join(),
    ) &&
    /^application\/json(;|$)/.test(String(headers['content-type'])) &&
    typeof body.message === 'string' &&
    body.message !== ''
  return isEnvelope ? `${status} ${body.code} ${body.field}` : JSON.stringify([status, headers, body])
}

/** Asserts a single refusal. */
export const refused = (
  t: Test,
  answer: Given | undefined,
  status: number,
  code: string,
  field: string | null,
  what?: string,
) => t.equal(gist(answer), `${status} ${code} ${field}`, what ?? `${status} ${code} on ${field}`)

export const invalid = (field: string | null) => `400 INVALID_FIELD ${field}`
export const missing = (field: string | null) => `400 MISSING_FIELD ${field}`
export const malformed = (field: string | null) => `400 MALFORMED_REQUEST ${field}`
export const invalidQuery = (field: string) => `400 INVALID_QUERY_PARAMETER ${field}`
export const WRONG_REGION = '400 INVALID_REGION x-region'
export const NO_ROUTE = '404 ROUTE_NOT_FOUND null'
export const NO_TOKEN = '401 MISSING_TOKEN authorization'
export const WRONG_METHOD = '405 METHOD_NOT_ALLOWED null'
export const ILLEGAL = '409 ILLEGAL_TRANSITION null'

/** Values that no text member takes. */
export const NO_TEXT = [null, 7, true, ['x'], {}]

export type Case = readonly [input: unknown, expected: string]

/** Rows of a table that expect the same of several inputs. */
export const each = (inputs: readonly unknown[], expected: string): Case[] => inputs.map(input => [input, expected])

const short = (input: unknown) => {
  const text = String(JSON.stringify(input))
  return text.length > 90 ? `${text.slice(0, 90)}… (${text.length})` : text
}

/** Sends every input of a table, one after the other, and compares all answers with the table at once. */
export async function holds(
  t: Test,
  cases: readonly Case[],
  // biome-ignore lint/suspicious/noExplicitAny: each table has inputs of its own shape
  send: (input: any, index: number) => Promise<Given | string | undefined>,
  title?: string,
) {
  const found: [string, string][] = []
  for (const [index, [input]] of cases.entries()) {
    const answer = await send(input, index)
    found.push([short(input), typeof answer === 'string' ? answer : gist(answer)])
  }
  t.same(
    found,
    cases.map(([input, expected]) => [short(input), expected]),
    title ?? 'answers',
  )
}

/** The same for a table that lists, under each expected line, the inputs that it is expected of. */
export const table = (t: Test, send: Parameters<typeof holds>[2], rows: Record<string, readonly unknown[]>) =>
  holds(
    t,
    Object.entries(rows).flatMap(([expected, inputs]) => each(inputs, expected)),
    send,
  )

/** Returns a copy of a body with another value at a path, such as `debtor.name`. Undefined leaves the member out. */
export function changed(body: object, path: string, value: unknown): object {
  const copy = structuredClone(body)
  const names = path.split('.')
  const last = names.pop() as string
  // biome-ignore lint/suspicious/noExplicitAny: bodies are of every shape
  let parent: any = copy
  for (const name of names) parent = parent[name] ??= {}
  parent[last] = value
  return copy
}

/** Sends a body with each wrong value at its path in turn. Each one must be INVALID_FIELD with the path as `field`. */
export const refusesValues = (
  t: Test,
  send: (body: object) => Promise<Answer>,
  body: object,
  wrong: Record<string, readonly unknown[]>,
) =>
  holds(
    t,
    Object.entries(wrong).flatMap(([path, values]) =>
      each(
        values.map(value => changed(body, path, value)),
        invalid(path),
      ),
    ),
    send,
  )

/** Gives a new tenant of a server at each call: tests share the server, and never a tenant. */
export function tenantsOf(app: FastifyInstance) {
  let count = 0
  return (region = 'EU') => connect(app, `tenant-${++count}`, region)
}

export const CURRENCY_OF = { EU: 'EUR', IN: 'INR', US: 'USD', UK: 'GBP' } as const
export const REGIONS = ['EU', 'IN', 'US', 'UK'] as const

export const secondBefore = (instant: string) => `${new Date(Date.parse(instant) - 1000).toISOString().slice(0, 19)}Z`
