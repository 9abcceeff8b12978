import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import type { Test } from 'tap'
import { call, requestToken } from './helper.js'

/** Names that objects or arrays have, and places of arrays. */
const SHORT_NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'length', '0', '-1', '1e9']
/** The names for a body. */
export const NAMES: readonly string[] = [...SHORT_NAMES, 'x'.repeat(100_000)]
/** The names for an address or a header. Longer ones do not come through (decisions §1). */
export const START_NAMES: readonly string[] = [...SHORT_NAMES, 'x'.repeat(1_000)]
const IS_LONG = process.env.TEST_LONG === '1'
let turn = 0

/** Returns `__proto__` and one of the other names, for each place another. TEST_LONG=1 sends all to each place. */
export function nextNames(names = NAMES): readonly string[] {
  turn++
  return names.filter((_, at) => IS_LONG || at === 0 || at === 1 + (turn % (names.length - 1)))
}

/** A member with which a careless copy of an object would change all objects. */
export const POISON = { polluted: 'yes', prototype: { polluted: 'yes' } }

export const FORM = 'application/x-www-form-urlencoded'

export type Pair = readonly [name: string, value: string]

/** Returns the query of an address. */
export const queryOf = (pairs: readonly Pair[]): string =>
  pairs.length === 0 ? '' : `?${new URLSearchParams(pairs.map(pair => [...pair]))}`

/** What all code shares. */
const SHARED = [Object, Function, Array, String, Number, Boolean, RegExp, Date, Error, Map, Set, Promise, Buffer]
const membersOfShared = () =>
  SHARED.flatMap(type => [type, type.prototype]).map(shared => Object.getOwnPropertyDescriptors(shared))
const before = membersOfShared()

/** Returns why no client may get an answer; undefined: it is a success, or a refusal in the envelope or as a page. */
function faultOf({ statusCode, headers, payload }: LightMyRequestResponse): string | undefined {
  if (statusCode < 400) return undefined
  if (statusCode >= 500) return String(statusCode)
  if (String(headers['content-type']).startsWith('text/html')) {
    return payload.startsWith('<!doctype html>') ? undefined : `${statusCode} without a page`
  }
  const { code, field, message } = JSON.parse(payload)
  const texts = [code, message, field ?? '']
  return texts.every(text => typeof text === 'string') ? undefined : `${statusCode} without the envelope`
}

let clients = 0

/** Creates a client with the records of the demo. Returns its id. */
export async function forkDemo(server: FastifyInstance): Promise<string> {
  const clientId = `names-${++clients}-of-a-test`
  await call(server, 'POST', '/_sandbox/fork', { body: { clientId } })
  return clientId
}

async function createClient(server: FastifyInstance) {
  const clientId = await forkDemo(server)
  const credentials = { client_id: clientId, client_secret: 'sandbox-secret' }
  return { clientId, token: (await requestToken(server, credentials)).body.access_token as string }
}

export type Batch = Awaited<ReturnType<typeof createBatch>>

/** Whether an answer is one that a request expects, beside being a success or a refusal. */
type IsRight = (answer: LightMyRequestResponse) => boolean

/** Requests for a client of their own. */
export async function createBatch(server: FastifyInstance) {
  let inputs = 0
  const client = await createClient(server)
  const faults = new Set<string>()

  async function send(request: InjectOptions, isRight: IsRight = () => true): Promise<LightMyRequestResponse> {
    const answer = await server.inject(request)
    const fault = faultOf(answer) ?? (isRight(answer) ? undefined : String(answer.statusCode))
    const { method = 'GET', url, payload = '' } = request
    const parts = [`${method} ${url}`, payload, fault, answer.payload].map(part => String(part).slice(0, 300))
    if (fault !== undefined) faults.add(parts.join('\n'))
    return answer
  }

  return {
    ...client,
    server,
    send,
    /** The number of names that were sent to a place. */
    inputs: () => inputs,
    count(more: number) {
      inputs += more
    },
    /** Sends each input in a request of its own. */
    async each<T>(all: readonly T[], requestOf: (input: T) => InjectOptions, isRight?: IsRight): Promise<void> {
      inputs += all.length
      for (const input of all) await send(requestOf(input), isRight)
    },
    /** Sends inputs in one request if it is accepted, else one by one: the refusal of one would hide the others. */
    async together<T>(
      all: readonly T[],
      requestOf: (some: readonly T[]) => InjectOptions,
      isRight?: IsRight,
    ): Promise<void> {
      inputs += all.length
      if (all.length === 0 || (await send(requestOf(all), isRight)).statusCode < 400) return
      for (const input of all) await send(requestOf([input]), isRight)
    },
    /** Asserts that no answer was wrong, and that what all code shares is as before. */
    check(t: Test, name: string): void {
      t.same([...faults], [], name)
      faults.clear()
      t.ok(isDeepStrictEqual(membersOfShared(), before), `${name}: shared objects are as before`)
    },
  }
}
