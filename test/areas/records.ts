import { gist } from '../answers.js'
import type { Answer, Client } from '../helper.js'
import { collection, mandate, payoutLink } from '../helper.js'

/** An account of a seed, in region EU. */
export const account = (changes: object = {}) => ({
  accountReference: 'ACC-0001',
  accountHolderName: 'Acme GmbH',
  currency: 'EUR',
  accountIdentifier: 'DE89370400440532013000',
  branchIdentifier: { type: 'BIC', value: 'COBADEFFXXX' },
  balance: '1234.56',
  ...changes,
})

/** The claim of a SEPA link. */
export const sepaClaim = { accountHolderName: 'Jane Doe', accountIdentifier: 'DE89370400440532013000' }
const usClaim = {
  accountHolderName: 'Jane Doe',
  accountIdentifier: '12345678',
  branchIdentifier: { type: 'ROUTING', value: '021000021' },
  accountType: 'CHECKING',
}
const ukClaim = {
  accountHolderName: 'Jane Doe',
  accountIdentifier: '12345678',
  branchIdentifier: { type: 'SORT', value: '123456' },
}

/** The methods of payout links, each with a claim that it takes. */
export const METHODS: Record<string, { region: string; currency: string; claim: { accountIdentifier: string } }> = {
  'SEPA-CT': { region: 'EU', currency: 'EUR', claim: sepaClaim },
  'SEPA-INSTANT': { region: 'EU', currency: 'EUR', claim: sepaClaim },
  'US-ACH': { region: 'US', currency: 'USD', claim: usClaim },
  'UK-BACS': { region: 'UK', currency: 'GBP', claim: ukClaim },
  'UK-FAST': { region: 'UK', currency: 'GBP', claim: ukClaim },
}

/** The kinds with states, by their path in the API: the verbs that lead a new record to each state. */
export const WAYS = {
  /** With mandateActivation manual. */
  mandates: {
    PENDING: [],
    ACTIVE: ['activate'],
    CANCELLED: ['activate', 'cancel'],
    EXPIRED: ['activate', 'expire'],
    FAILED: ['fail'],
  },
  'direct-debit': {
    PENDING: [],
    SUBMITTED: ['submit'],
    PROCESSING: ['submit', 'process'],
    SETTLED: ['submit', 'process', 'settle'],
    FAILED: ['submit', 'process', 'fail'],
    CANCELLED: ['cancel'],
    RETURNED: ['submit', 'process', 'settle', 'return'],
    REJECTED: ['submit', 'reject'],
  },
  'payout-links': {
    ACTIVE: [],
    CLAIMED: ['claim'],
    PROCESSING: ['claim', 'process'],
    PAID: ['claim', 'process', 'pay'],
    FAILED: ['claim', 'process', 'fail'],
    CANCELLED: ['cancel'],
    EXPIRED: ['expire'],
    REJECTED: ['decline'],
  },
} as const

export type Path = keyof typeof WAYS

const BODIES: Record<string, object> = { claim: sepaClaim, decline: { remarks: 'no, thank you' } }

/** Makes a transition of a record by the control plane, by default with a body that its verb takes. */
export const move = (client: Client, path: Path, reference: string, verb: string, body?: object): Promise<Answer> =>
  client.control('POST', `/${path}/${reference}/${verb}`, body ?? BODIES[verb])

/** Returns what the control plane explains of a record. */
export const explain = (client: Client, path: Path, reference: string) => client.read(`/${path}/${reference}`)

/** Creates a record under a reference, which a link ignores, and leads it to a state. Returns its reference. */
export async function lead(client: Client, path: Path, status: string, reference: string, changes: object = {}) {
  const bodies = {
    mandates: mandate({ mandateReference: reference, ...changes }),
    'direct-debit': collection({ collectionReference: reference, ...changes }),
    'payout-links': payoutLink(changes),
  }
  const created = await client.post(`/api/v1/${path}`, bodies[path])
  if (created.status !== 201) throw new Error(gist(created))
  const id: string = created.body.payoutLinkId ?? reference
  const ways: Record<string, readonly string[]> = WAYS[path]
  for (const verb of ways[status] ?? []) await move(client, path, id, verb)
  return id
}
