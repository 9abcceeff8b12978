import t, { type Test } from 'tap'
import type { Sandbox, SandboxOptions, SeedRecords } from '../../src/client/index.js'
import { connectSandbox, createSandbox, SandboxError } from '../../src/client/index.js'
import { MONDAY } from '../helper.js'

export const ADMIN_TOKEN = 'hush-hush'

/** A sandbox in this process, its clock frozen on MONDAY unless the test says otherwise. It closes with the test. */
export async function create(t: Pick<Test, 'teardown'>, options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await createSandbox({ clock: MONDAY, ...options })
  t.teardown(() => sandbox.close())
  return sandbox
}

let shared: Promise<Sandbox> | undefined
let jobs = 0

/** The two ways to get hold of a sandbox: what is promised of one is promised of the other. */
const WAYS: readonly { name: string; open(t: Pick<Test, 'teardown'>): Promise<Sandbox> }[] = [
  { name: 'createSandbox', open: t => create(t) },
  {
    name: 'connectSandbox with an admin token',
    async open(test) {
      // Each test has a client of its own.
      shared ??= create(t, { adminToken: ADMIN_TOKEN })
      const { url } = await shared
      const sandbox = await connectSandbox({ url, adminToken: ADMIN_TOKEN, clientId: `job-${++jobs}` })
      test.teardown(() => sandbox.close())
      return sandbox
    },
  },
]

let turn = 0

/** Tests a method of a sandbox. The ways to get hold of one take turns, since the methods are the same. */
export function method(title: string, test: (t: Test, sandbox: Sandbox) => Promise<void>): void {
  const { name, open } = WAYS[turn++ % WAYS.length] as (typeof WAYS)[number]
  t.test(`library, In your tests: ${name}: ${title}`, async t => test(t, await open(t)))
}

export interface ApiAnswer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any
  readonly headers: Headers
}

/** A request as the application under test would send it. */
export async function api(
  sandbox: Sandbox,
  method: string,
  path: string,
  body?: unknown,
  { token, region = 'EU' }: { token?: string; region?: string } = {},
): Promise<ApiAnswer> {
  const response = await fetch(`${sandbox.url}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token ?? (await sandbox.token())}`,
      'x-region': region,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? null : JSON.parse(text), headers: response.headers }
}

/** A mandate and a collection under it that is due on the Monday after MONDAY. */
export const RECORDS = {
  mandates: [
    {
      mandateReference: 'MND-0001',
      type: 'RECURRING',
      creditor: { name: 'Acme GmbH', bankIdentifier: { type: 'CREDITOR_IDENTIFIER', value: 'DE98ZZZ09999999999' } },
      debtor: { name: 'Jane Doe', iban: 'DE89370400440532013000' },
    },
  ],
  collections: [
    {
      collectionReference: 'COL-0001',
      mandateReference: 'MND-0001',
      amount: '10.50',
      currency: 'EUR',
      collectionDate: '2026-11-09',
    },
  ],
} as const satisfies SeedRecords

/** What a call is refused with. */
export async function refusal(call: Promise<unknown>): Promise<SandboxError> {
  try {
    await call
  } catch (error) {
    if (error instanceof SandboxError) return error
    throw error
  }
  throw new Error('the call has not been refused')
}
