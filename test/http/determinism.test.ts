import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { bill, build, collection, mandate, payoutLink } from '../helper.js'
import { upload } from '../multipart.js'

// control plane: the same seed, clock and requests give the same ids, tokens and answers, byte for byte.

interface Step {
  method: 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'PUT' | 'DELETE' | 'OPTIONS'
  url: string
  headers?: Record<string, string>
  body?: string | object
  /** Asks for a token, which the steps that follow send. */
  isToken?: true
  /** The link that it creates is the LINK of the steps that follow. */
  isLink?: true
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const token: Step = {
  method: 'POST',
  url: '/api/v1/oauth/token',
  headers: FORM,
  body: 'client_id=acme&client_secret=secret&grant_type=client_credentials',
  isToken: true,
}
const advance = (by: string): Step => ({ method: 'POST', url: '/_sandbox/clock/advance?client=acme', body: { by } })

const steps: Step[] = [
  { method: 'GET', url: '/_sandbox' },
  { method: 'GET', url: '/api/v1/mandates' },
  token,
  {
    method: 'POST',
    url: '/api/v1/oauth/token',
    headers: FORM,
    body: 'client_id=acme&client_secret=wrong&grant_type=x',
  },
  { method: 'POST', url: '/api/v1/mandates', body: mandate() },
  { method: 'POST', url: '/api/v1/mandates', body: mandate() },
  {
    method: 'POST',
    url: '/api/v1/mandates',
    body: mandate({ mandateReference: 'MND-0002', type: 'ONE_OFF', extra: 1 }),
  },
  { method: 'POST', url: '/api/v1/mandates', body: '{' },
  { method: 'POST', url: '/api/v1/mandates', body: '"\\ud800"' },
  { method: 'GET', url: '/api/v1/mandates?limit=1' },
  { method: 'HEAD', url: '/api/v1/mandates' },
  { method: 'OPTIONS', url: '/api/v1/mandates' },
  { method: 'PUT', url: '/api/v1/mandates' },
  { method: 'GET', url: '/api/v1/mandates/%zz' },
  { method: 'GET', url: '/api/v1/mandates/a%2Fb' },
  ...['COL-0001', 'COL-0002', 'COL-0003'].map(
    (collectionReference): Step => ({
      method: 'POST',
      url: '/api/v1/direct-debit',
      body: collection({ collectionReference }),
    }),
  ),
  {
    method: 'POST',
    url: '/api/v1/direct-debit',
    body: collection({ collectionReference: 'COL-0004', debtorReference: 'SIM-RETURNED-AM04' }),
  },
  {
    method: 'POST',
    url: '/api/v1/direct-debit',
    body: collection({ collectionReference: 'COL-0005', collectionDate: '2026-11-14', mandateReference: 'MND-0002' }),
  },
  { method: 'POST', url: '/api/v1/direct-debit', body: collection({ amount: 1 }) },
  { method: 'GET', url: '/api/v1/direct-debit?limit=2&status=PENDING,SETTLED&page=1' },
  { method: 'POST', url: '/api/v1/payout-links', body: payoutLink(), isLink: true },
  {
    method: 'POST',
    url: '/api/v1/payout-links',
    body: payoutLink({ uiMode: 'embedded', origin: 'https://shop.example' }),
  },
  { method: 'POST', url: '/api/v1/payout-links', body: payoutLink(), isLink: true },
  { method: 'PATCH', url: '/api/v1/payout-links/LINK/cancel', body: { cancellationComment: 'no' } },
  { method: 'PATCH', url: '/api/v1/payout-links/LINK/cancel', body: { cancellationComment: 'no' } },
  { method: 'GET', url: '/_sandbox/payout-links/LINK?client=acme' },
  { method: 'POST', url: '/api/v1/bills', body: bill() },
  { method: 'POST', url: '/api/v1/bills/INV-2026-001/document', ...upload() },
  { method: 'POST', url: '/api/v1/bills/INV-2026-001/document', ...upload({ content: 'GIF89a' }) },
  { method: 'GET', url: '/api/v1/bills/INV-2026-001' },
  { method: 'PATCH', url: '/api/v1/bills/INV-2026-001', body: { status: 'PAID' } },
  { method: 'PATCH', url: '/api/v1/counterparties/CPTY-0001', body: { remarks: 'x', address: { line1: 'x' } } },
  { method: 'PATCH', url: '/api/v1/counterparties/CPTY-0001', body: { remarks: 'x' } },
  { method: 'GET', url: '/api/v1/accounts' },
  advance('PT30M'),
  { method: 'GET', url: '/api/v1/direct-debit/COL-0001' },
  advance('P3D'),
  { method: 'GET', url: '/api/v1/direct-debit/COL-0001' },
  token,
  { method: 'POST', url: '/_sandbox/direct-debit/COL-0003/cancel?client=acme' },
  { method: 'DELETE', url: '/api/v1/mandates/MND-0002' },
  { method: 'DELETE', url: '/api/v1/mandates/MND-0002' },
  advance('P10D'),
  { method: 'POST', url: '/_sandbox/clock/advance?client=acme', body: { toNextEvent: true } },
  token,
  { method: 'GET', url: '/api/v1/direct-debit' },
  { method: 'GET', url: '/_sandbox/direct-debit/COL-0004?client=acme' },
  { method: 'GET', url: '/_sandbox/direct-debit/COL-0001?client=sandbox-client' },
  { method: 'GET', url: '/_sandbox/clients' },
  { method: 'POST', url: '/_sandbox/reset?client=acme' },
  { method: 'GET', url: '/api/v1/mandates' },
  token,
  { method: 'POST', url: '/api/v1/payout-links', body: payoutLink() },
  { method: 'GET', url: '/nowhere' },
]

/** What a client sees of each answer: status, headers but for the date, the bytes of the body. */
async function play(app: FastifyInstance): Promise<string[]> {
  let bearer = ''
  let link = ''
  const answers: string[] = []
  for (const { method, url, headers, body, isToken, isLink } of steps) {
    const response = await app.inject({
      method,
      url: url.replace('LINK', link),
      headers: {
        'x-region': 'EU',
        ...(bearer !== '' && { authorization: `Bearer ${bearer}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { payload: body }),
    })
    if (isToken) bearer = response.json().access_token
    if (isLink) link = response.json().payoutLinkId
    const { date, ...others } = response.headers
    answers.push(`${method} ${url}\n${response.statusCode}\n${JSON.stringify(others)}\n${response.payload}`)
  }
  return answers
}

t.test('settings, SANDBOX_SEED: the same seed, clock and requests give byte-identical answers', async t => {
  const first = await play(build(t, { seed: 'one' }))
  const second = await play(build(t, { seed: 'one' }))
  t.equal(first.length, steps.length)
  for (const [at, answer] of first.entries()) t.equal(second[at], answer, answer.slice(0, answer.indexOf('\n')))
})

t.test('settings, SANDBOX_SEED: another seed gives other tokens, links and documents', async t => {
  const first = await play(build(t, { seed: 'one' }))
  const second = await play(build(t, { seed: 'two' }))
  for (const [at, { method, url, isToken, isLink }] of steps.entries()) {
    if (!isToken && !isLink) continue
    t.not(second[at], first[at], `${method} ${url}`)
  }
})

t.test('settings, SANDBOX_SEED: the real time leaves no trace where the clock is frozen', async t => {
  const first = await play(build(t, { now: () => 0 }))
  const later = await play(build(t, { now: () => 1_000_000_000_000 }))
  for (const [at, answer] of first.entries()) t.equal(later[at], answer, answer.slice(0, answer.indexOf('\n')))
})

t.test('settings, SANDBOX_SEED: requests of another tenant in between change nothing', async t => {
  const alone = await play(build(t))
  const app = build(t)
  const other = () =>
    app.inject({
      method: 'POST',
      url: '/api/v1/oauth/token',
      headers: { ...FORM, 'x-request-id': 'other' },
      payload: 'client_id=other&client_secret=secret&grant_type=client_credentials',
    })
  await other()
  const together = await play(app)
  const own = (answers: string[]) => answers.filter(answer => !/^GET \/_sandbox(\/clients)?\n/.test(answer))
  t.same(own(together), own(alone))
})
