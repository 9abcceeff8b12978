import type { Sandbox } from '../client/index.js'
import { formatInstant } from '../core/time/time.js'
import { OWN_FIXTURES } from '../package.js'
import { buildServer } from '../server.js'
import { loadFixtures } from '../tenants/fixtures.js'
import type { Json, Subject } from './contract.js'
import { rowOf } from './contract.js'
import { parseJson } from './har.js'

export interface Outgoing {
  readonly method: string
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer<ArrayBuffer> | undefined
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  /** The parsed text, or undefined if it is not JSON. */
  readonly body: Json
}

/** A sandbox that gets the requests of a capture. */
export interface Target {
  /** Whether it is given the states that the service shows. */
  readonly isOwn: boolean
  /** Moves the clock forward to a time in milliseconds. */
  moveTo(at: number): unknown
  send(request: Outgoing): Promise<Answer>
}

export interface Client {
  readonly clientId: string
  readonly clientSecret: string
}

/**
 * Creates a sandbox in memory with clients that have no records. It does not listen.
 * @param start the time of its clocks, in milliseconds
 * @param tokenLifetime in seconds
 */
export function createMemoryTarget(clients: readonly Client[], start: number, tokenLifetime: number) {
  let now = start
  const { app } = buildServer({
    seed: 'replay',
    frozenAt: undefined,
    fixtures: loadFixtures(OWN_FIXTURES),
    clients: clients.map(client => ({ ...client, fixture: 'empty' })),
    openRegistration: false,
    maxTenants: Number.POSITIVE_INFINITY,
    maxRecords: 100_000,
    tokenLifetime,
    publicUrl: () => 'http://localhost',
    requestLog: { entries: 0 },
    // The time of the capture is the real time of this server.
    now: () => now,
  })
  const target: Target = {
    isOwn: true,
    moveTo(at) {
      now = Math.max(now, at)
    },
    async send({ method, url, headers = {}, body }) {
      const sent = { method: method as 'GET', url, headers, ...(body !== undefined && { payload: body }) }
      const { statusCode, headers: answered, payload } = await app.inject(sent)
      return { status: statusCode, headers: answered, body: parseJson(payload) }
    },
  }
  return { target, close: () => app.close() }
}

/** Returns a client of a running sandbox as a target. */
export function createRemoteTarget(sandbox: Sandbox, adminToken: string | undefined): Target {
  const admin: Record<string, string> = adminToken === undefined ? {} : { authorization: `Bearer ${adminToken}` }
  let now = ''
  return {
    isOwn: false,
    async moveTo(at) {
      const to = formatInstant(at)
      if (to <= now) return
      await sandbox.clock.advance({ to })
      now = to
    },
    async send({ method, url, headers, body }) {
      const answer = await fetch(`${sandbox.url}${url}`, {
        method,
        headers: { ...headers, ...(url.startsWith('/_sandbox/') && admin) },
        // No content of GET has a meaning, and `fetch` sends none.
        ...(body !== undefined && !/^(?:GET|HEAD)$/.test(method) && { body }),
        redirect: 'manual',
      })
      const text = await answer.text()
      return { status: answer.status, headers: Object.fromEntries(answer.headers), body: parseJson(text) }
    },
  }
}

/** Returns a call of the control plane. */
export const control = (method: string, path: string, client: string, body?: unknown): Outgoing => ({
  method,
  url: `/_sandbox${path}?client=${encodeURIComponent(client)}`,
  ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
})

/** Adds a record by `POST /seed`. Returns the refusal, with the path of the member that it is about, or undefined if it is added. */
export async function seed({ send }: Target, client: string, kind: string, record: Json) {
  const { status, body } = await send(control('POST', '/seed', client, { records: { [kind]: [record] } }))
  if (status < 300) return undefined
  const path: string[] = body?.field?.split('.').slice(3) ?? []
  return { code: String(body?.code), message: String(body?.message), path }
}

/**
 * Changes a record by the state document, which checks only its own rules.
 * @param reference the reference in the sandbox
 */
export async function adopt({ send }: Target, client: string, { kind }: Subject, reference: string, changes: Json) {
  const { body: state } = await send(control('GET', '/state', client))
  const found = state[kind].find(({ record }: Json) => record[rowOf(kind).reference] === reference)
  if (found === undefined) return
  Object.assign(found.record, changes)
  await send(control('PUT', '/state', client, state))
}
