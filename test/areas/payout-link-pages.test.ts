import { gzipSync } from 'node:zlib'
import { pino } from 'pino'
import t from 'tap'
import { mountPayoutLink } from '../../src/areas/payout-links/pay/browser/sdk.js'
import { gist, invalid, missing, table, WRONG_METHOD } from '../answers.js'
import type { Client } from '../helper.js'
import { build, call, connect, newClient, payoutLink } from '../helper.js'
import {
  claim,
  createLink,
  FORMS,
  open,
  pagePath,
  queryAfter,
  receiptAfter,
  stateOf,
  submit,
  titleOf,
  tokenOf,
} from './pages.js'
import { account, sepaClaim } from './records.js'

const SEPA = FORMS['SEPA-CT'] as Record<string, string>
const JSON_ONLY = { accept: 'application/json' }
const formOf = (method: string) => FORMS[method] as Record<string, string>
/** What a program sees of a link beside its status. */
const STATE = { amount: '25', currency: 'EUR', payoutMethod: 'SEPA-CT', expiresAt: '2026-11-09T09:00:00Z' }

const explain = async (client: Client, id: string) => (await client.control('GET', `/payout-links/${id}`)).body

/** Sends JSON to a page, as a program does. */
const post = (client: Client, id: string, body: object) => call(client.app, 'POST', pagePath(client, id), { body })

/** The query of a page: its client, and further parameters. */
const queryOf = ({ clientId }: Client, more = '') => `?client=${clientId}${more}`

const advance = (client: Client, by: string) => client.control('POST', '/clock/advance', { by })

/** Gives a client an account with this holder. */
const holdAccount = (client: Client, accountHolderName: string, changes: object = {}) => {
  const accounts = [account({ accountHolderName, branchIdentifier: undefined, ...changes })]
  return client.control('POST', '/seed', { records: { accounts } })
}

/** Opens the page of a link, and declines it with its form. */
async function decline(client: Client, id: string, remarks = '') {
  const token = tokenOf(await open(client, id))
  return submit(client, id, { action: 'decline', token, remarks })
}

/** Reads the state of a page, as a program does. `query` is that of an address; by default it names the client. */
const look = (client: Client, id: string, query?: string) =>
  call(client.app, 'GET', query === undefined ? pagePath(client, id) : `/pay/${id}${query}`, { headers: JSON_ONLY })

// -------------------------------------------------------------------------------------------------------- the page

t.test('decisions §8: the page of a link says who pays how much by which method until when', async t => {
  const client = await newClient()
  await holdAccount(client, 'Acme & Sons GmbH')
  const more = { amount: '1234567.5', remarks: 'Refund of order 7', counterpartyReference: 'CPTY-0001' }
  const id = await createLink(client, 'SEPA-INSTANT', more)
  const { statusCode, headers, payload } = await open(client, id)
  t.same([statusCode, headers['content-type']], [200, 'text/html; charset=utf-8'])
  t.match(payload, '<html lang="en"')
  const parties = ['Acme &amp; Sons GmbH pays you', 'Refund of order 7', 'CPTY-0001']
  for (const text of [...parties, '€1,234,567.50', 'SEPA instant transfer', '9 November 2026 at 10:00'])
    t.match(payload, text)
})

t.test(
  'decisions §8: the sender is that of the settings, else the holder of an account, and never the client',
  async t => {
    const client = await newClient()
    const id = await createLink(client)
    const title = async () => titleOf(await open(client, id))
    t.match(await title(), /^A payout for you €25/)
    const branchIdentifier = { type: 'SORT', value: '108800' }
    await holdAccount(client, 'Acme Ltd', { currency: 'GBP', accountIdentifier: '00012345', branchIdentifier })
    t.match(await title(), /^Acme Ltd pays you/, 'the account of another region')
    await holdAccount(client, 'Acme GmbH')
    t.match(await title(), /^Acme GmbH pays you/)
    t.match(titleOf(await open(client, await createLink(client, 'UK-FAST'))), /^Acme Ltd pays you/)
    await client.control('PUT', '/settings', { senderName: 'Acme & <Friends>' })
    t.match(await title(), /^Acme &amp; &lt;Friends> pays you/)
    await client.control('PUT', '/settings', { senderName: null })
    t.match(await title(), /^Acme GmbH pays you/)
  },
)

t.test('decisions §8: the pages are in English, in the colours of the device', async t => {
  const client = await newClient()
  const id = await createLink(client)
  const { payload } = await open(client, id)
  t.match(payload, '<meta name="color-scheme" content="light dark"/>')
  const more = '&locale=de&colorScheme=dark&accent=ff8a3d&radius=0&font=serif'
  const given = await open(client, id, { query: queryOf(client, more), headers: { 'accept-language': 'de' } })
  t.equal(given.payload, payload, 'parameters of earlier releases are ignored')
  const answer = await claim(client, id, SEPA, { query: queryOf(client, more) })
  t.match(answer.headers.location, `${id}${queryOf(client)}&receipt=`)
})

t.test('decisions §8: amounts and times are those of the region, with its city', async t => {
  const client = await connect(build(t))
  const shown = [
    ['UK-FAST', '£18.50', '9 November 2026 at 09:00 (London time)'],
    ['US-ACH', '$18.50', 'November 9, 2026 at 4:00 AM (New York time)'],
    ['SEPA-CT', '€18.50', '9 November 2026 at 10:00 (Berlin time)'],
  ] as const
  for (const [method, amount, time] of shown) {
    const { payload } = await open(client, await createLink(client, method, { amount: '18.50' }))
    t.match(payload, amount, method)
    t.match(payload.replace(/[\u202f\u00a0]/g, ' '), time, method)
  }
})

t.test('decisions §8: PROCESSING, PAID and FAILED say what happened, and when', async t => {
  const client = await newClient()
  await client.control('PUT', '/settings', { senderName: 'Acme' })
  const cases = [
    [
      ['process'],
      ['£18.50 was sent to your account •••• 9911.', 'Expected 2 November 2026 at 09:00 (London time)'],
      'This payout is on its way',
    ],
    [
      ['process', 'pay'],
      ['£18.50 is in your account •••• 9911.', '2 November 2026 at 09:00 (London time)'],
      'This payout has been paid',
    ],
    [
      ['process', 'fail'],
      ['<title>The transfer failed', 'The money is back with Acme.', '£18.50 for your account •••• 9911.'],
      'This payout failed',
    ],
  ] as const
  for (const [verbs, texts, title] of cases) {
    const id = await createLink(client, 'UK-FAST', { amount: '18.50' })
    const query = queryAfter(await claim(client, id, formOf('UK-FAST')))
    for (const verb of verbs) await client.control('POST', `/payout-links/${id}/${verb}`)
    const { payload } = await open(client, id, { query })
    for (const text of texts) t.match(payload.replace(/[\u202f\u00a0]/g, ' '), text)
    const other = await open(client, id)
    t.same([other.statusCode, titleOf(other)], [409, title], 'without the receipt')
    t.notMatch(other.payload, /18.50|9911|Jane|Acme/)
  }
})

t.test('decisions §8: the day of a payment counts from the claim, also when the link is PROCESSING', async t => {
  const client = await newClient()
  const id = await createLink(client, 'US-ACH')
  // Three seconds before midnight in New York.
  await client.advance({ to: '2026-11-03T04:59:57Z' })
  const query = queryAfter(await claim(client, id, formOf('US-ACH')))
  for (const status of ['CLAIMED', 'PROCESSING']) {
    const page = await open(client, id, { query })
    t.equal(stateOf(page), status)
    t.match(page.payload.replace(/[\u202f\u00a0]/g, ' '), 'November 3, 2026 at 6:00 AM (New York time)', status)
    await client.advance({ by: 'PT5S' })
  }
})

t.test('decisions §8: a page is shown to people, and a state to programs', async t => {
  const client = await newClient()
  const id = await createLink(client)
  const kinds = [
    ['*/*', 'text/html'],
    ['text/html,application/xhtml+xml,*/*;q=0.8', 'text/html'],
    ['image/png', 'text/html'],
    ['application/json', 'application/json'],
    ['application/json, text/html;q=0.1', 'application/json'],
  ] as const
  for (const [accept, type] of kinds) {
    t.match((await open(client, id, { headers: { accept } })).headers['content-type'], type, accept)
  }
  t.same((await look(client, id)).body, { payoutLinkId: id, status: 'ACTIVE', ...STATE })
})

t.test('decisions §8: markup in a text of a link is shown as text', async t => {
  const client = await newClient()
  const markup = `"><script>alert(1)</script><img src=x onerror='alert(2)'>&amp;`
  await holdAccount(client, markup)
  const id = await createLink(client, 'SEPA-CT', { accountHolderName: markup, remarks: markup })
  const page = await open(client, id)
  const form = { action: 'claim', token: tokenOf(page), accountIdentifier: markup }
  for (const { payload } of [page, await submit(client, id, form)]) {
    t.equal(payload.split('<script').length, 2, 'only the script of the page')
    t.notMatch(payload, '<img')
    t.match(payload, '&lt;script>alert(1)')
    t.notMatch(payload, /value="[^"]*<|value=""><script/)
  }
})

t.test('decisions §8: no cookie, no cache, no inline script, no other origin, no referrer to others', async t => {
  const client = await newClient()
  const answers = [
    await open(client, await createLink(client)),
    await open(client, 'pl_unknown'),
    await submit(client, await createLink(client), { action: 'claim' }),
  ]
  for (const { headers, payload } of answers) {
    t.match(headers, {
      'cache-control': 'no-store',
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; " +
        "form-action 'self'; base-uri 'none'; frame-ancestors 'self'",
    })
    t.notOk('set-cookie' in headers)
    t.notMatch(payload, /(?:src|href|action)="(?:https?:|\/)/, 'addresses are relative')
    t.notMatch(payload, /<script(?![^>]*src=)|<style| style=| on\w+=/)
  }
})

// ------------------------------------------------------------------------------------------------ claim and decline

for (const [method, form] of Object.entries(FORMS)) {
  t.test(`decisions §8: a form claims a link of ${method}, once, and shows its progress`, async t => {
    const client = await newClient()
    const id = await createLink(client, method)
    const answer = await claim(client, id, form)
    t.same([answer.statusCode, answer.payload], [303, ''])
    t.match(answer.headers.location, new RegExp(`^${id}\\?client=${client.clientId}&receipt=[\\w-]{16}$`))

    const { record, timeline } = await explain(client, id)
    const account = String(form.accountIdentifier).replace(/[ -]/g, '')
    const masked = account.replace(/.(?=.{4})/g, '*').toUpperCase()
    t.match(record, { status: 'CLAIMED', claim: { accountHolderName: 'Jane Doe', accountIdentifier: masked } })
    t.match(timeline.at(-1), { from: 'ACTIVE', to: 'CLAIMED', cause: 'api' })

    const query = queryAfter(answer)
    const progress = await open(client, id, { query })
    t.equal(stateOf(progress), 'CLAIMED')
    t.match(progress.payload, `•••• ${account.slice(-4).toUpperCase()}`)
    t.notMatch(progress.payload, account.toUpperCase())
    t.match(await claim(client, id, form), { statusCode: 403 }, 'the page has no token any more')

    await advance(client, 'PT6S')
    t.equal(stateOf(await open(client, id, { query })), 'PROCESSING')
    await advance(client, 'P7D')
    const paid = await open(client, id, { query })
    t.equal(stateOf(paid), 'PAID')
    t.notMatch(paid.payload, 'data-live', 'a final state')
  })
}

t.test('decisions §8: a decline with a comment makes the link REJECTED', async t => {
  const client = await newClient()
  const id = await createLink(client)
  const answer = await decline(client, id, 'Not me <b>')
  t.equal(answer.statusCode, 303)
  t.match((await explain(client, id)).record, { status: 'REJECTED', decline: { remarks: 'Not me <b>' } })
  const page = await open(client, id, { query: queryAfter(answer) })
  t.match(titleOf(page), 'You declined this payout')
  t.match(page.payload, 'The sender can see your comment.')

  const long = await createLink(client)
  t.equal((await decline(client, long, `${'\r\n'.repeat(255)}x`)).statusCode, 303, 'a line break is one character')
  t.equal((await explain(client, long)).record.decline.remarks.length, 256)

  const silent = await createLink(client)
  const declined = await decline(client, silent)
  t.equal(declined.statusCode, 303, 'a comment is optional')
  t.notMatch((await open(client, silent, { query: queryAfter(declined) })).payload, 'your comment')
  t.same((await explain(client, silent)).record.decline, {})
})

t.test('decisions §8: a refused form says what is wrong in each field, and changes nothing', async t => {
  const client = await newClient()
  const [noName, noSepa] = ['Enter the name of the account holder.', 'Enter a valid IBAN of a SEPA country.']
  const cases: [method: string, form: Record<string, string>, ...messages: string[]][] = [
    ['SEPA-CT', {}, noName, 'Enter your IBAN.'],
    ['SEPA-CT', { ...SEPA, accountIdentifier: 'DE88 3704 0044 0532 0130 00' }, noSepa],
    ['SEPA-CT', { ...SEPA, accountIdentifier: 'SA03 8000 0000 6080 1016 7519' }, noSepa],
    ['SEPA-CT', { ...SEPA, accountHolderName: ' \t ' }, noName],
    ['SEPA-CT', { ...SEPA, accountHolderName: 'x'.repeat(141) }, 'Enter a name of at most 140 characters.'],
    ['US-ACH', { 'branchIdentifier.value': '021000022' }, 'This routing number is not valid.', 'Select the type'],
    ['US-ACH', { ...formOf('US-ACH'), accountType: 'GIRO' }, 'Select the type of account.'],
    ['UK-FAST', { 'branchIdentifier.value': '12345' }, 'Enter a sort code of 6 digits.', 'Enter your account number.'],
  ]
  for (const [method, form, ...messages] of cases) {
    const id = await createLink(client, method)
    const answer = await claim(client, id, form)
    t.equal(answer.statusCode, 400, `${method} ${JSON.stringify(form).slice(0, 60)}`)
    const problems = /role="alert">(.*?)<\/div>/.exec(answer.payload)?.[1] ?? ''
    for (const message of messages) t.match(problems, message)
    const { accountType, ...typed } = form
    for (const value of Object.values(typed)) t.ok(answer.payload.includes(value.trim()), 'what was typed stays')
    t.equal((await explain(client, id)).record.status, 'ACTIVE')
  }

  const id = await createLink(client)
  const payload = new URLSearchParams({
    action: 'claim',
    token: tokenOf(await open(client, id)),
    ...SEPA,
    accountIdentifier: 'DE00',
  })
  const headers = { ...JSON_ONLY, 'content-type': 'application/x-www-form-urlencoded' }
  const json = await client.app.inject({ method: 'POST', url: pagePath(client, id), headers, payload: `${payload}` })
  t.match([json.statusCode, json.json()], [400, { code: 'INVALID_FIELD', field: 'accountIdentifier' }])
})

t.test('decisions §8: the name of the link is fixed', async t => {
  const client = await newClient()
  const name = ' Ida  Lindholm '
  const id = await createLink(client, 'SEPA-CT', { accountHolderName: name })
  const page = await open(client, id)
  t.match(page.payload, /<input[^>]*value=" Ida {2}Lindholm " readonly/)
  const { accountIdentifier = '' } = SEPA
  const lie = { action: 'claim', token: tokenOf(page), accountIdentifier, accountHolderName: 'John Doe' }
  const refused = await submit(client, id, lie)
  t.same([refused.statusCode, stateOf(refused)], [400, 'INVALID_FIELD'])
  t.equal((await claim(client, id, { accountIdentifier })).statusCode, 303)
  t.equal((await explain(client, id)).record.claim.accountHolderName, name)
})

t.test('decisions §8: a claim that does not fit its method is 400, in the envelope for programs', async t => {
  const client = await newClient()
  const cases: [method: string, members: object, expected: string][] = [
    ['SEPA-CT', { ...SEPA, branchIdentifier: { type: 'SORT', value: '200000' } }, invalid('branchIdentifier')],
    ['UK-FAST', { ...formOf('UK-FAST'), accountType: 'SAVINGS' }, missing('branchIdentifier')],
    ['UK-FAST', { ...SEPA, branchIdentifier: 'SORT' }, invalid('branchIdentifier')],
    ['SEPA-CT', { ...SEPA, accountHolderName: 7 }, invalid('accountHolderName')],
    ['SEPA-CT', { ...SEPA, accountIdentifier: 'x'.repeat(1001) }, invalid('accountIdentifier')],
    ['SEPA-CT', {}, missing('accountHolderName')],
    ['SEPA-CT', { ...SEPA, action: 'pay' }, invalid('action')],
  ]
  for (const [method, members, expected] of cases) {
    const id = await createLink(client, method)
    const token = tokenOf(await open(client, id))
    t.equal(gist(await post(client, id, { action: 'claim', token, ...members })), expected)
    t.equal((await explain(client, id)).record.status, 'ACTIVE')
  }
  const page = await claim(client, await createLink(client), { ...SEPA, accountType: 'SAVINGS' })
  t.same([page.statusCode, titleOf(page)], [400, 'These details cannot be accepted'], 'a page for people')
})

t.test('decisions §8: a program claims with JSON, and gets the receipt', async t => {
  const client = await newClient()
  const id = await createLink(client)
  const token = tokenOf(await open(client, id))
  const { status, body } = await post(client, id, { action: 'claim', token, ...SEPA })
  const { receipt, ...state } = body
  t.match(receipt, /^[\w-]{16}$/)
  t.same([status, state], [200, { payoutLinkId: id, status: 'CLAIMED', ...STATE }], 'the state after the claim')
  const later = await look(client, id, queryOf(client, `&receipt=${receipt}`))
  t.same([later.status, later.body], [200, state])

  const other = await createLink(client)
  const declined = await post(client, other, { action: 'decline', token: tokenOf(await open(client, other)) })
  t.match(declined, { status: 200, body: { status: 'REJECTED', receipt: /^[\w-]{16}$/ } })
})

// ---------------------------------------------------------------------------------------------------------- safety

t.test('decisions §8: a claim and a decline need the token of the page of this link', async t => {
  const client = await newClient()
  const [id, other] = [await createLink(client), await createLink(client)]
  const right = tokenOf(await open(client, id))
  const wrong = [undefined, '', 'x', `${right}x`, right.slice(1), tokenOf(await open(client, other))]
  for (const action of ['claim', 'decline']) {
    const send = (token: unknown) => post(client, id, { action, token, ...(action === 'claim' && SEPA) })
    await table(t, send, { '403 INVALID_PAGE_TOKEN token': wrong })
  }
  t.equal((await explain(client, id)).record.status, 'ACTIVE')
  const page = await submit(client, id, { action: 'claim', token: 'forged', ...SEPA })
  t.same([page.statusCode, titleOf(page)], [403, 'This form is out of date'])
})

t.test('decisions §8: of two claims at once one wins, and the other gets 409', async t => {
  const client = await newClient()
  const id = await createLink(client)
  const token = tokenOf(await open(client, id))
  const names = ['Jane Doe', 'John Doe']
  const answers = await Promise.all(
    names.map(accountHolderName => submit(client, id, { action: 'claim', token, ...SEPA, accountHolderName })),
  )
  t.same(answers.map(({ statusCode }) => statusCode).sort(), [303, 409])
  const winner = answers.findIndex(({ statusCode }) => statusCode === 303)
  t.equal((await explain(client, id)).record.claim.accountHolderName, names[winner])
  t.equal(titleOf(answers[1 - winner] as (typeof answers)[0]), 'This payout has already been accepted')
  const late = await post(client, id, { action: 'decline', token })
  t.match(gist(late), '409 PAYOUT_LINK_ALREADY_CLAIMED')
})

t.test('decisions §8: the SDK takes addresses of http and https only', t => {
  const mount = (url: string) => () => mountPayoutLink({} as HTMLElement, { url })
  const wrong = ['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'blob:http://a.example/x', '/pay/x']
  for (const url of wrong) t.throws(mount(url), TypeError, url)
  // Node has no document to mount it in.
  for (const url of ['http://pay.example/pay/x', 'HTTPS://pay.example/pay/x']) t.throws(mount(url), ReferenceError, url)
  t.end()
})

t.test('decisions §8: after the claim, the account number is in no answer, event, state or log', async t => {
  const lines: string[] = []
  const logger = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) })
  const client = await connect(build(t, { logger }))
  const id = await createLink(client)
  const query = queryAfter(await claim(client, id, SEPA))
  const texts = [(await open(client, id, { query })).payload, (await open(client, id)).payload]
  for (const path of [`/payout-links/${id}`, '/state', '/events', '/requests']) {
    texts.push(JSON.stringify((await client.control('GET', path)).body))
  }
  t.match(texts[2], '3000', 'the last digits stay')
  const token = tokenOf(await open(client, await createLink(client)))
  for (const text of [...texts, ...lines]) {
    for (const secret of ['37040044', '3704 0044', token]) t.notMatch(text, secret)
  }
})

t.test('decisions §8: what a claim says is for its recipient, who has the receipt', async t => {
  const client = await newClient()
  const id = await createLink(client)
  const receipt = receiptAfter(await claim(client, id, SEPA))
  for (const given of ['', '&receipt=', '&receipt=x', `&receipt=${receipt}x`]) {
    const page = await open(client, id, { query: queryOf(client, given) })
    t.equal(page.statusCode, given === '&receipt=' ? 400 : 409, given)
    t.notMatch(page.payload, /Jane Doe|3000/)
  }
})

// ----------------------------------------------------------------------------------------------------- closed links

t.test('decisions §8: each closed link has a page of its own, and a code for programs', async t => {
  const client = await newClient()
  const secret = { remarks: 'a secret comment' }
  const cases = [
    ['cancel', undefined, 410, 'PAYOUT_LINK_CLOSED', 'This payout was cancelled'],
    ['expire', undefined, 410, 'PAYOUT_LINK_CLOSED', 'This payout link has expired'],
    ['decline', secret, 410, 'PAYOUT_LINK_CLOSED', 'This payout was declined'],
    ['claim', sepaClaim, 409, 'PAYOUT_LINK_ALREADY_CLAIMED', 'This payout has already been accepted'],
  ] as const
  for (const [verb, body, status, code, title] of cases) {
    const id = await createLink(client)
    const token = tokenOf(await open(client, id))
    await client.control('POST', `/payout-links/${id}/${verb}`, body)
    const page = await open(client, id)
    const json = await look(client, id)
    t.same([page.statusCode, titleOf(page), json.status, json.body.code], [status, title, status, code])
    t.notMatch(page.payload, /<form|a secret comment|Jane|3000/)
    for (const action of ['claim', 'decline']) {
      const late = await submit(client, id, { action, token, ...SEPA })
      t.same([late.statusCode, titleOf(late)], [status, title], `${action} after ${verb}`)
    }
  }
})

t.test('decisions §8: who has declined a link that is then cancelled sees that it is cancelled', async t => {
  const client = await newClient()
  const id = await createLink(client)
  const query = queryAfter(await decline(client, id))
  t.equal((await open(client, id, { query })).statusCode, 200, 'the receipt')
  await client.control('POST', `/payout-links/${id}/cancel`)
  t.equal((await open(client, id, { query })).statusCode, 410)
})

t.test('decisions §8: a running clock moves the page without a request of the client', async t => {
  let real = Date.parse('2026-11-02T09:00:00Z')
  const client = await connect(build(t, { clock: 'real', now: () => real }))
  const id = await createLink(client, 'SEPA-INSTANT')
  const query = queryAfter(await claim(client, id, SEPA))
  const states = []
  for (const seconds of [4, 1, 4, 1]) {
    real += seconds * 1000
    states.push(stateOf(await open(client, id, { query })))
  }
  t.same(states, ['CLAIMED', 'PROCESSING', 'PROCESSING', 'PAID'])
})

t.test('decisions §8: what is no link, and what is no form, is refused as the caller reads it', async t => {
  const client = await newClient()
  const id = await createLink(client)
  const page = pagePath(client, id)
  const unknown = pagePath(client, 'pl_unknown')
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const largest = 'action=claim&remarks='.padEnd(128 * 1024, 'x')
  const cases: [line: string, expected: string, headers?: object, payload?: string][] = [
    [`GET ${unknown}`, '404 PAYOUT_LINK_NOT_FOUND'],
    [`POST ${unknown}`, '404 PAYOUT_LINK_NOT_FOUND', form, 'action=claim'],
    ['GET /pay/short', '400 INVALID_FIELD'],
    [`GET /pay/${'x'.repeat(91)}`, '400 INVALID_FIELD'],
    ['GET /pay/pl_%3Cscript%3E', '400 INVALID_FIELD'],
    ['GET /pay/pl_%ff000', '400 MALFORMED_REQUEST'],
    [`GET /pay/${id}?client=nobody`, '404 CLIENT_NOT_FOUND'],
    [`POST /pay/${id}?client=nobody`, '404 CLIENT_NOT_FOUND', form, 'action=claim'],
    [`GET /pay/${id}?client=`, '400 INVALID_QUERY_PARAMETER'],
    [`GET /pay/${id}?client=a&client=b`, '400 MALFORMED_REQUEST'],
    [`POST ${page}`, '400 MALFORMED_REQUEST', form, 'action=claim&action=decline'],
    [`POST ${page}`, '400 MALFORMED_REQUEST', form, 'action=%zz'],
    [`POST ${page}`, '400 MISSING_FIELD'],
    [`POST ${page}`, '415 UNSUPPORTED_MEDIA_TYPE', { 'content-type': 'text/plain' }, 'action=claim'],
    [`POST ${page}`, '400 INVALID_FIELD', form, largest],
    [`POST ${page}`, '413 PAYLOAD_TOO_LARGE', form, `${largest}x`],
  ]
  for (const [line, expected, headers, payload] of cases) {
    const [method, url] = line.split(' ') as ['GET', string]
    const send = (accept: string) => client.app.inject({ method, url, headers: { ...headers, accept }, payload })
    const answer = await send('text/html')
    t.equal(`${answer.statusCode} ${stateOf(answer)}`, expected, line)
    const json = await send('application/json')
    t.equal(`${json.statusCode} ${json.json().code}`, expected, line)
  }
  const deleted = await call(client.app, 'DELETE', page)
  t.same([gist(deleted), deleted.headers.allow], [WRONG_METHOD, 'GET, HEAD, OPTIONS, POST'])
})

// -------------------------------------------------------------------------------------------------- several clients

/** Returns the state of a link of a client, for the control plane. */
const statusFor = async ({ app }: Client, clientId: string, id: string) =>
  (await call(app, 'GET', `/_sandbox/payout-links/${id}?client=${encodeURIComponent(clientId)}`)).body.record.status

t.test('decisions §8: the link of a fork has a page of its own, which leaves that of the origin', async t => {
  const client = await newClient()
  const id = await createLink(client)
  const copy = { app: client.app, clientId: `${client.clientId}-copy` }
  await client.control('POST', '/fork', { clientId: copy.clientId })
  for (const one of [client, copy]) {
    const { body } = await call(client.app, 'GET', `/_sandbox/payout-links/${id}?client=${one.clientId}`)
    t.equal(body.record.url, `http://127.0.0.1:8080${pagePath(one, id)}`)
    t.equal(stateOf(await open(one, id)), 'ACTIVE')
  }
  const states = () => Promise.all([client, copy].map(({ clientId }) => statusFor(client, clientId, id)))
  t.equal((await claim(copy, id, SEPA)).statusCode, 303)
  t.same(await states(), ['ACTIVE', 'CLAIMED'])
  t.same([stateOf(await open(client, id)), (await open(copy, id)).statusCode], ['ACTIVE', 409])
  t.equal((await decline(client, id)).statusCode, 303)
  t.same(await states(), ['REJECTED', 'CLAIMED'])
})

t.test('decisions §8: links of a fixture that several clients have are links of each, from the start', async t => {
  const app = build(t)
  const demo = { app, clientId: 'sandbox-client' }
  const id = 'PL-ACME-EU-0007'
  const first = await open(demo, id, { query: '' })
  t.equal(first.statusCode, 200, 'before the first request of its client')
  t.match(first.payload, 'Acme Office Coffee GmbH pays you')
  const shop = await connect(app, 'shop')
  await shop.control('POST', '/seed', { fixture: 'demo' })
  t.equal((await claim(shop, id, { ...SEPA, accountHolderName: 'Ida Lindholm' })).statusCode, 303)
  t.same([await statusFor(shop, 'shop', id), await statusFor(shop, 'sandbox-client', id)], ['CLAIMED', 'ACTIVE'])
  t.same([(await open(shop, id)).statusCode, stateOf(await open(demo, id))], [409, 'ACTIVE'])
})

t.test('decisions §8: an address without a client is that of a link of sandbox-client only', async t => {
  const app = build(t)
  const [acme, demo] = [await connect(app), await connect(app, 'sandbox-client', 'EU', 'sandbox-secret')]
  const [others, own] = [await createLink(acme), await createLink(demo)]
  const query = ''
  t.match(gist(await look(acme, others, query)), '404 PAYOUT_LINK_NOT_FOUND', 'also where no other has such a link')
  const token = tokenOf(await open(acme, others))
  const missed = await submit(acme, others, { action: 'claim', token, ...SEPA }, { query })
  t.same([missed.statusCode, stateOf(missed)], [404, 'PAYOUT_LINK_NOT_FOUND'])
  t.equal(await statusFor(acme, 'acme', others), 'ACTIVE')

  t.equal((await open(demo, own, { query: '?client=acme' })).statusCode, 404)
  const answer = await claim(demo, own, SEPA, { query })
  t.match(answer.headers.location, new RegExp(`^${own}\\?receipt=[\\w-]{16}$`), 'no client is added')
  t.equal(stateOf(await open(demo, own, { query: queryAfter(answer) })), 'CLAIMED')
})

t.test('decisions §8: the address of a link has its client id percent-encoded', async t => {
  const clientId = 'Büro & Söhne/7=a+b?#%20"><b>'
  const client = await connect(build(t, { clients: [{ clientId, clientSecret: 'secret' }] }), clientId)
  const { body: link } = await client.post('/api/v1/payout-links', payoutLink())
  t.equal(link.url, `http://127.0.0.1:8080/pay/${link.payoutLinkId}?client=${encodeURIComponent(clientId)}`)
  const page = await open(client, link.payoutLinkId)
  t.equal(page.statusCode, 200)
  t.notMatch(page.payload, '<b>')
  t.notMatch(page.payload, ' action=', 'forms go to the address of their page')

  const answer = await claim(client, link.payoutLinkId, SEPA)
  const next = new URL(String(answer.headers.location), link.url)
  t.same(next.pathname, new URL(link.url).pathname)
  t.equal(next.searchParams.get('client'), clientId, 'the page after the claim names the client, too')
  const progress = await open(client, link.payoutLinkId, { query: next.search })
  t.equal(stateOf(progress), 'CLAIMED')
  const again = /<a href="([^"]+)"/.exec(progress.payload)?.[1]?.replaceAll('&amp;', '&') as string
  t.equal(new URL(again, link.url).href, next.href, 'and the link to look again')
})

t.test('decisions §8: pages do not keep a client from being dropped, nor register one', async t => {
  const app = build(t, { maxTenants: 3 })
  const client = await connect(app, 'first')
  const id = await createLink(client)
  t.equal((await open(client, 'pl_unknown', { query: '' })).statusCode, 404)
  t.equal((await open({ app, clientId: 'nobody' }, id)).statusCode, 404)
  await connect(app, 'second')
  t.same(
    (await call(app, 'GET', '/_sandbox/clients')).body.data.map(({ clientId }: { clientId: string }) => clientId),
    ['sandbox-client', 'first', 'second'],
  )
  t.equal((await open(client, id)).statusCode, 200)
})

t.test('decisions §1, §8: other sites open a page and load the SDK, but cannot claim', async t => {
  const client = await newClient()
  const id = await createLink(client)
  const foreign = { origin: 'https://shop.example', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
  const page = await open(client, id, { headers: foreign })
  t.equal(page.statusCode, 200)
  t.equal((await client.app.inject({ url: '/sdk/v1.js', headers: foreign })).statusCode, 200)
  const form = { action: 'claim', token: tokenOf(page), ...SEPA }
  const forged = await submit(client, id, form, { headers: foreign })
  t.same([forged.statusCode, stateOf(forged)], [403, 'FORBIDDEN_ORIGIN'])
  const own = { headers: { host: 'pay.test', origin: 'http://pay.test' } }
  t.equal((await submit(client, id, form, own)).statusCode, 303)
})

// ---------------------------------------------------------------------------------------------------------- frames

t.test('decisions §8: only the partner frames the page of an embedded link', async t => {
  const client = await newClient()
  const [shop, local] = ['https://shop.example', 'http://localhost:3000']
  const hosted = await createLink(client)
  const anywhere = await createLink(client, 'SEPA-CT', { uiMode: 'embedded' })
  const one = await createLink(client, 'SEPA-CT', { uiMode: 'embedded', origin: local })
  const ancestorsOf = async (id: string) =>
    // The console of the sandbox may always.
    / frame-ancestors 'self'( .*)?$/
      .exec(String((await open(client, id)).headers['content-security-policy']))?.[1]
      ?.trim() ?? "'none'"
  t.equal(await ancestorsOf(hosted), "'none'")
  t.equal(await ancestorsOf(anywhere), 'http://localhost:* http://127.0.0.1:*')
  t.equal(await ancestorsOf(one), local)
  for (const [allowedOrigins, ofAnywhere, ofOne] of [
    [[shop], shop, "'none'"],
    [[], "'none'", "'none'"],
    [[shop, local], `${shop} ${local}`, local],
  ] as const) {
    await client.control('PUT', '/settings', { allowedOrigins })
    t.same([await ancestorsOf(anywhere), await ancestorsOf(one)], [ofAnywhere, ofOne], allowedOrigins.join())
  }
  const { body: state } = await client.control('GET', '/state')
  await client.control('POST', `/payout-links/${one}/expire`)
  t.equal(await ancestorsOf(one), local, 'the page of a closed link, too')
  state.settings.allowedOrigins = [shop]
  t.equal((await client.control('PUT', '/state', state)).status, 200)
  t.equal(await ancestorsOf(one), "'none'", 'a link of a state document whose list has another origin')
})

t.test('decisions §8: a page that the SDK shows is refused by code, and any page may show the refusal', async t => {
  const client = await newClient()
  const hosted = await createLink(client)
  const embedded = await createLink(client, 'SEPA-CT', { uiMode: 'embedded', remarks: 'a secret' })
  const one = await createLink(client, 'SEPA-CT', { uiMode: 'embedded', origin: 'http://localhost:3000' })
  const shop = 'https://shop.example'
  const local = 'http://localhost:3001'
  const within = (embedder: string) => ({ query: queryOf(client, `&embedder=${encodeURIComponent(embedder)}`) })
  const cases = [
    [hosted, shop, 409, 'UI_MODE_MISMATCH'],
    [hosted, local, 409, 'UI_MODE_MISMATCH'],
    [embedded, shop, 403, 'ORIGIN_NOT_ALLOWED'],
    [one, local, 403, 'ORIGIN_NOT_ALLOWED'],
    ['pl_unknown', shop, 404, 'PAYOUT_LINK_NOT_FOUND'],
  ] as const
  for (const [id, embedder, status, code] of cases) {
    const page = await open(client, id, within(embedder))
    t.same([page.statusCode, stateOf(page)], [status, code])
    t.match(page.headers['content-security-policy'], new RegExp(`frame-ancestors 'self' ${embedder}$`))
    t.match(page.payload, `data-embedders="${embedder}"`)
    t.notMatch(page.payload, /data-status|25|secret|name="token"/, 'nothing of the link')
    t.match(await look(client, id, within(embedder).query), { status, body: { code } })
    const forged = await submit(client, id, { action: 'decline', token: 'x' }, within(embedder))
    t.same([forged.statusCode, stateOf(forged)], [status, code])
  }
  const page = await open(client, embedded, within(local))
  t.same([page.statusCode, stateOf(page)], [200, 'ACTIVE'])
  t.match(
    page.headers['content-security-policy'],
    /frame-ancestors 'self' http:\/\/localhost:\* http:\/\/127\.0\.0\.1:\*$/,
  )
  for (const wrong of ['null', '*', "'self'", 'https://a.example;script-src *', 'https://a.example/x', '']) {
    const page = await open(client, hosted, within(wrong))
    t.same([page.statusCode, stateOf(page)], [400, 'INVALID_QUERY_PARAMETER'], wrong)
    t.match(page.headers['content-security-policy'], /script-src 'self'; .* frame-ancestors 'self'$/, wrong)
  }
})

t.test('decisions §8: an embedded page outside of a frame explains itself', async t => {
  const client = await newClient()
  const id = await createLink(client, 'SEPA-CT', { uiMode: 'embedded' })
  const opened = async (destination: string) => {
    const page = await open(client, id, { headers: { 'sec-fetch-dest': destination } })
    return [page.statusCode, stateOf(page), page.payload.includes('name="token"')]
  }
  t.same(await opened('document'), [200, undefined, false])
  t.same(await opened('iframe'), [200, 'ACTIVE', true])
  t.same(await opened('empty'), [200, 'ACTIVE', true])
})

t.test('decisions §8: it is one small module for pages of every origin', async t => {
  const { headers, payload } = await (await newClient()).app.inject('/sdk/v1.js')
  t.match(headers, {
    'content-type': 'text/javascript; charset=utf-8',
    'access-control-allow-origin': '*',
    'cross-origin-resource-policy': 'cross-origin',
  })
  const sdk = await import(`data:text/javascript,${encodeURIComponent(payload)}`)
  t.same(Object.keys(sdk), ['mountPayoutLink'])
  t.notMatch(payload, /^import |sourceMappingURL/m)
  t.ok(gzipSync(payload).length < 5 * 1024, `${gzipSync(payload).length} bytes`)
})

t.test('decisions §8: all that a page loads comes from the server, below /pay/assets', async t => {
  const client = await newClient()
  const { payload } = await open(client, await createLink(client))
  const paths = [...payload.matchAll(/<(?:link rel="stylesheet" href|script type="module" src)="([^"]+)"/g)].map(
    ([, path]) => new URL(path as string, 'http://host/pay/').pathname,
  )
  t.same(paths, ['/pay/assets/page.css', '/pay/assets/page.js'])
  for (const path of paths) {
    const file = await client.app.inject(path)
    t.equal(file.statusCode, 200, path)
    t.equal(file.headers['x-content-type-options'], 'nosniff')
    t.match(file.headers['content-type'], /^text\/(css|javascript); charset=utf-8$/)
    t.notMatch(file.payload, /^import |sourceMappingURL/m, path)
  }
})

// --------------------------------------------------------------------------------------------- records of the server

t.test('decisions §8: the pages of recipients are not in the request log of the app', async t => {
  const client = await connect(build(t))
  const id = await createLink(client)
  await claim(client, id, SEPA)
  await open(client, 'pl_unknown')
  const { data } = (await client.control('GET', '/requests')).body
  t.same(
    data.map(({ path }: { path: string }) => path),
    ['/api/v1/oauth/token', '/api/v1/payout-links'],
  )
  t.same((await call(client.app, 'GET', '/_sandbox/requests')).body.data, [], 'nor in that of the demo client')
})
