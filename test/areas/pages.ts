import type { LightMyRequestResponse } from 'fastify'
import type { Client } from '../helper.js'
import { payoutLink } from '../helper.js'
import { METHODS } from './records.js'

/** What a recipient fills in for each method, with the separators that people type. */
export const FORMS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'SEPA-CT': { accountHolderName: 'Jane Doe', accountIdentifier: 'de89 3704 0044 0532 0130 00' },
  'SEPA-INSTANT': { accountHolderName: 'Jane Doe', accountIdentifier: 'FR14 2004 1010 0505 0001 3M02 606' },
  'US-ACH': {
    ...{ accountHolderName: 'Jane Doe', accountIdentifier: '000-123-456789' },
    ...{ 'branchIdentifier.value': '021000021', accountType: 'CHECKING' },
  },
  'UK-BACS': { accountHolderName: 'Jane Doe', accountIdentifier: '5577 9911', 'branchIdentifier.value': '20-00-00' },
  'UK-FAST': { accountHolderName: 'Jane Doe', accountIdentifier: '55779911', 'branchIdentifier.value': '200000' },
}

/** Creates a payout link of a method, and returns its id. */
export async function createLink(client: Client, method = 'SEPA-CT', changes: object = {}): Promise<string> {
  const { region, currency } = METHODS[method] as (typeof METHODS)[string]
  const body = payoutLink({ payoutMethod: method, currency, ...changes })
  const { status, body: link } = await client.post('/api/v1/payout-links', body, { region })
  if (status !== 201) throw new Error(link.message)
  return link.payoutLinkId
}

/** A client whose pages are opened; it needs no token. */
type Payer = Pick<Client, 'app' | 'clientId'>

/** Returns the address of the page of a client's link, relative to the public URL. */
export const pagePath = ({ clientId }: Pick<Payer, 'clientId'>, id: string) =>
  `/pay/${id}?client=${encodeURIComponent(clientId)}`

export interface PageCall {
  /** The query of the address, such as that of a redirection; by default it names the client. */
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
}

const addressOf = (client: Payer, id: string, { query }: PageCall) =>
  query === undefined ? pagePath(client, id) : `/pay/${id}${query}`

/** Opens a page as a browser does. */
export const open = (client: Payer, id: string, call: PageCall = {}) =>
  client.app.inject({ url: addressOf(client, id, call), headers: { accept: 'text/html', ...call.headers } })

/** Returns the token of a page. */
export const tokenOf = ({ payload }: LightMyRequestResponse) => /name="token" value="([\w-]+)"/.exec(payload)?.[1] ?? ''

/** Sends a form as a browser does. */
export const submit = (client: Payer, id: string, fields: Readonly<Record<string, string>>, call: PageCall = {}) =>
  client.app.inject({
    method: 'POST',
    url: addressOf(client, id, call),
    headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded', ...call.headers },
    payload: new URLSearchParams(fields).toString(),
  })

/** Opens the page of a link, and claims it with its form. */
export async function claim(client: Payer, id: string, form: Readonly<Record<string, string>>, call?: PageCall) {
  const token = tokenOf(await open(client, id, call))
  return submit(client, id, { action: 'claim', token, ...form }, call)
}

/** Returns the query of the address that a form redirects to, which shows the link to its recipient. */
export const queryAfter = ({ headers }: LightMyRequestResponse) => String(headers.location).replace(/^[^?]*/, '')

/** Returns the receipt of a claim or decline by a form. */
export const receiptAfter = (answer: LightMyRequestResponse) =>
  new URLSearchParams(queryAfter(answer)).get('receipt') as string

/** Returns the text of the title of a page. */
export const titleOf = ({ payload }: LightMyRequestResponse) => /<title>(.*?)<\/title>/.exec(payload)?.[1]
/** Returns the code of a refusal, else the state of the link that a page has for its script. */
export const stateOf = ({ payload }: LightMyRequestResponse) =>
  /data-code="(\w+)"/.exec(payload)?.[1] ?? /data-status="(\w+)"/.exec(payload)?.[1]
