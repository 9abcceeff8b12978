import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import type { Client } from '../helper.js'
import { payoutLink } from '../helper.js'

/** What a recipient fills in for each method, with the separators that people type. */
export const FORMS: Readonly<
  Record<string, { region: string; currency: string; form: Readonly<Record<string, string>> }>
> = {
  'SEPA-CT': {
    region: 'EU',
    currency: 'EUR',
    form: { accountHolderName: 'Jane Doe', accountIdentifier: 'de89 3704 0044 0532 0130 00' },
  },
  'SEPA-INSTANT': {
    region: 'EU',
    currency: 'EUR',
    form: { accountHolderName: 'Jane Doe', accountIdentifier: 'FR14 2004 1010 0505 0001 3M02 606' },
  },
  'US-ACH': {
    region: 'US',
    currency: 'USD',
    form: {
      accountHolderName: 'Jane Doe',
      'branchIdentifier.type': 'ROUTING',
      'branchIdentifier.value': '021000021',
      accountIdentifier: '000-123-456789',
      accountType: 'CHECKING',
    },
  },
  'UK-BACS': {
    region: 'UK',
    currency: 'GBP',
    form: {
      accountHolderName: 'Jane Doe',
      'branchIdentifier.type': 'SORT',
      'branchIdentifier.value': '20-00-00',
      accountIdentifier: '5577 9911',
    },
  },
  'UK-FAST': {
    region: 'UK',
    currency: 'GBP',
    form: {
      accountHolderName: 'Jane Doe',
      'branchIdentifier.type': 'SORT',
      'branchIdentifier.value': '200000',
      accountIdentifier: '55779911',
    },
  },
}

/** Creates a payout link of a method, and returns its id. */
export async function createLink(client: Client, method = 'SEPA-CT', changes: object = {}): Promise<string> {
  const { region, currency } = FORMS[method] as { region: string; currency: string }
  const body = payoutLink({ payoutMethod: method, currency, ...changes })
  const { status, body: link } = await client.post('/api/v1/payout-links', body, { region })
  if (status !== 201) throw new Error(link.message)
  return link.payoutLinkId
}

export interface PageCall {
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Opens a page as a browser does. */
export const open = (app: FastifyInstance, id: string, { query = '', headers = {} }: PageCall = {}) =>
  app.inject({ url: `/pay/${id}${query}`, headers: { accept: 'text/html', ...headers } })

/** Returns the token of a page. */
export const tokenOf = ({ payload }: LightMyRequestResponse) => /name="token" value="([\w-]+)"/.exec(payload)?.[1] ?? ''

/** Sends a form as a browser does. */
export const submit = (
  app: FastifyInstance,
  id: string,
  fields: Readonly<Record<string, string>>,
  { query = '', headers = {} }: PageCall = {},
) =>
  app.inject({
    method: 'POST',
    url: `/pay/${id}${query}`,
    headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: new URLSearchParams(fields).toString(),
  })

/** Opens the page of a link, and claims it with its form. */
export async function claim(app: FastifyInstance, id: string, form: Readonly<Record<string, string>>, call?: PageCall) {
  const token = tokenOf(await open(app, id, call))
  return submit(app, id, { action: 'claim', token, ...form }, call)
}

/** Returns the text of the title of a page. */
export const titleOf = ({ payload }: LightMyRequestResponse) => /<title>(.*?)<\/title>/.exec(payload)?.[1]
/** Returns the state that a page has for its script. */
export const stateOf = ({ payload }: LightMyRequestResponse) => /data-state="(\w+)"/.exec(payload)?.[1]
