/** Steps that both runners execute while their timers are faked. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { createSandbox } from '../dist/client/index.js'

const { setTimeout: realSetTimeout } = globalThis

/** Returns whether the runner has faked the timers. */
export const isFaked = () => globalThis.setTimeout !== realSetTimeout

/** Starts a sandbox. Its frozen clock makes the due times independent of the faked Date. */
export const open = () => createSandbox({ clock: '2026-11-02T09:00:00Z' })

/** The results of `collect`. */
export const SETTLED = {
  created: { status: 201, body: { collectionReference: 'COL-0001', status: 'PENDING' } },
  read: { status: 200, body: { collectionReference: 'COL-0001', status: 'SETTLED' } },
}

const MANDATE = {
  mandateReference: 'MND-0001',
  type: 'RECURRING',
  creditor: { name: 'Acme GmbH', bankIdentifier: { type: 'CREDITOR_IDENTIFIER', value: 'DE98ZZZ09999999999' } },
  debtor: { name: 'Jane Doe', iban: 'DE89370400440532013000' },
}

const COLLECTION = {
  collectionReference: 'COL-0001',
  mandateReference: 'MND-0001',
  amount: '10.50',
  currency: 'EUR',
  collectionDate: '2026-11-09',
}

/** Creates a collection, advances the clock of the sandbox by 10 days and reads the collection. */
export async function collect(sandbox) {
  await sandbox.seed({ mandates: [MANDATE] })
  const created = await request(sandbox, '/direct-debit', { method: 'POST', body: JSON.stringify(COLLECTION) })
  await sandbox.clock.advance({ by: 'P10D' })
  const read = await request(sandbox, '/direct-debit/COL-0001')
  return { created, read }
}

/** Sends a request as an application does. Gets a new token, because the advance of the clock expires tokens. */
async function request(sandbox, path, { method = 'GET', body } = {}) {
  const response = await fetch(`${sandbox.url}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${await sandbox.token()}`,
      'x-region': 'EU',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body }),
  })
  return { status: response.status, body: await response.json() }
}

/** The results of `wait`. */
export const WAITED = { token: 'string', code: 'TIMEOUT' }

/** Gets a token with a delay, and waits in vain for an event. Both need real time. */
export async function wait(sandbox) {
  await sandbox.faults.arm({ match: { path: '/api/v1/oauth/token' }, effect: { kind: 'delay', ms: 20 } })
  const token = typeof (await sandbox.token())
  const { code } = await sandbox.events.next({ to: 'RETURNED' }, { timeoutSeconds: 1 }).catch(error => error)
  return { token, code }
}

/** Closes a sandbox while a request to it is incomplete. */
export async function closeHalfway(sandbox) {
  const half = connect(Number(new URL(sandbox.url).port), '127.0.0.1')
  half.on('error', () => {})
  half.write('POST /api/v1/oauth/token HTTP/1.1\r\nhost: sandbox\r\ncontent-length: 9\r\n\r\nhalf')
  await once(half, 'connect')
  await sandbox.clock.get()
  await sandbox.close()
  half.destroy()
}
