import pino from 'pino'
import t from 'tap'
import { changed, gist, holds, invalid, table } from '../answers.js'
import { build, collection, mandate, newClient, payoutLink } from '../helper.js'

// The messages and hints of refusals that many operations share.

const URL = '/api/v1/mandates'
let count = 0
const fresh = (path: string, value: unknown) =>
  changed(mandate({ mandateReference: `MND-N-${++count}` }), path, value) as { mandateReference: string }

t.test('decisions §2: a member that is null can be left out, unless it is required', async t => {
  const client = await newClient()
  const message = async (path: string) => (await client.post(URL, fresh(path, null))).body.message
  t.equal(
    await message('debtor.bic'),
    'debtor.bic must not be null: leave it out, or give a valid BIC of 8 or 11 characters.',
  )
  t.equal(
    await message('frequency'),
    'frequency must not be null: leave it out, or give one of WEEKLY, MONTHLY, QUARTERLY, SEMI_ANNUAL, ANNUAL.',
  )
  t.equal(await message('debtor'), 'debtor must not be null: give an object.')
  t.match(await message('debtor.iban'), 'debtor.iban must not be null: give a valid IBAN of a SEPA country.')
  t.equal(gist(await client.post(URL, fresh('debtor.bic', null))), invalid('debtor.bic'))
  t.match((await client.post('/api/v1/mandates', fresh('type', 7))).body.message, /, not the number 7\.$/)
})

t.test('decisions §2: an IBAN, a BIC, a creditor identifier or a country says which check failed', async t => {
  const client = await newClient()
  const flaws: [path: string, flaws: Record<string, string>][] = [
    [
      'debtor.iban',
      {
        'DE89 3704 0044 0532 0130 00': 'has white space',
        'DE89370400440532013000\n': 'has white space',
        de89370400440532013000: 'has lower-case letters',
        'DE89-3704': 'has other characters than capital letters and digits',
        XX89370400440532013000: 'does not begin with the country code of an IBAN',
        '0089370400440532013000': 'does not begin with the country code of an IBAN',
        DE8937040044053201300: 'has 21 characters, and an IBAN of DE has 22',
        DE89370400440532013001: 'has wrong check digits',
        DE89370400440532O13000: 'has no account number of the form of DE',
        BR1500000000000010932840814P2: 'is of the country BR, which is not in SEPA',
      },
    ],
    [
      'debtor.bic',
      {
        'DEUTDEFF ': 'has white space',
        deutdeff: 'has lower-case letters',
        DEUTDEFF5: 'has 9 characters, and a BIC has 8 or 11',
        DEUTXXFF: 'has no code of a country at its 5th and 6th character: XX',
      },
    ],
    [
      'creditor.bankIdentifier.value',
      {
        'DE98 ZZZ 0999 9999 999': 'has white space',
        de98zzz09999999999: 'has lower-case letters',
        '1898ZZZ09999999999': 'does not begin with the code of a country',
        DE98ZZZ: 'has 7 characters, and 8 to 35 are possible',
        DE74ZZZ09999999999: 'has wrong check digits',
      },
    ],
  ]
  for (const [path, cases] of flaws) {
    for (const [value, flaw] of Object.entries(cases)) {
      const answer = await client.post(URL, fresh(path, value))
      t.equal(gist(answer), invalid(path), value)
      t.ok(answer.body.message.endsWith(`, not ${JSON.stringify(value)}: it ${flaw}.`), answer.body.message)
    }
  }
  const country = { address: { line1: 'a', city: 'b', country: 'de' } }
  await client.control('POST', '/seed', {
    records: { counterparties: [{ region: 'EU', counterpartyReference: 'CPTY-1' }] },
  })
  const refused = await client.patch('/api/v1/counterparties/CPTY-1', country)
  t.match(refused.body.message, /not "de": it has lower-case letters\.$/)
})

t.test('decisions §8: a claim with a wrong IBAN says which check failed', async t => {
  const client = await newClient()
  const { payoutLinkId } = (await client.post('/api/v1/payout-links', payoutLink())).body
  const claim = { accountHolderName: 'Jane Doe', accountIdentifier: 'DE89370400440532013001' }
  const { body } = await client.control('POST', `/payout-links/${payoutLinkId}/claim`, claim)
  t.equal(
    body.message,
    'accountIdentifier must be a valid IBAN of a SEPA country for SEPA-CT: it has wrong check digits.',
  )
})

const BLANK = [' ', '\t', '\u00a0', 'Jane\nDoe', 'Jane\u0000', '\u0085Jane']

t.test('decisions §2: a name that is blank or has a control character is 400', async t => {
  const client = await newClient()
  await client.post(URL, mandate())
  const { payoutLinkId } = (await client.post('/api/v1/payout-links', payoutLink())).body
  const send: Record<string, (name: string) => ReturnType<typeof client.post>> = {
    'debtor.name': name => client.post(URL, fresh('debtor.name', name)),
    'creditor.name': name => client.post(URL, fresh('creditor.name', name)),
    debtorName: name =>
      client.post('/api/v1/direct-debit', collection({ collectionReference: `COL-N-${++count}`, debtorName: name })),
    accountHolderName: name => client.post('/api/v1/payout-links', payoutLink({ accountHolderName: name })),
  }
  for (const [path, post] of Object.entries(send)) {
    await table(t, post, { [invalid(path)]: BLANK, 201: ['J', '李', ' Jane Doe'] })
  }
  t.match(
    (await client.post(URL, fresh('debtor.name', ' '))).body.message,
    /^debtor\.name must be a name .*: it is blank\.$/,
  )
  t.match((await client.post(URL, fresh('debtor.name', 'a\n'))).body.message, /: it has a control character\.$/)
  const claim = (accountHolderName: string) =>
    client.control('POST', `/payout-links/${payoutLinkId}/claim`, {
      accountHolderName,
      accountIdentifier: 'DE89370400440532013000',
    })
  await table(t, claim, { [invalid('accountHolderName')]: BLANK })
  await client.control('POST', '/seed', {
    records: { counterparties: [{ region: 'EU', counterpartyReference: 'CPTY-1' }] },
  })
  const update = (accountHolderName: string) => client.patch('/api/v1/counterparties/CPTY-1', { accountHolderName })
  await table(t, update, { [invalid('accountHolderName')]: BLANK, 200: ['Jane'] })
})

t.test('decisions §1: a name that SEPA does not carry gets a hint', async t => {
  const client = await newClient()
  const hintOf = async (path: string, value: string) =>
    String((await client.post(URL, fresh(path, value))).headers['sandbox-hint'] ?? 'none')
  const [long, latin] = [
    'is longer than the 70 characters that SEPA carries',
    'has characters outside of the Latin set that all banks of SEPA take',
  ]
  await holds(
    t,
    [
      ["O'Neill + Sons (1/2), Co.: Ltd?-", 'none'],
      ['x'.repeat(70), 'none'],
      ['x'.repeat(71), `debtor.name ${long}`],
      ['Jürgen Groß', `debtor.name ${latin}`],
      ['Tom & Co', `debtor.name ${latin}`],
      ['李', `debtor.name ${latin}`],
    ],
    name => hintOf('debtor.name', name),
  )
  t.equal(await hintOf('creditor.name', 'Café'), `creditor.name ${latin}`)
  await client.post(URL, mandate())
  const collected = await client.post('/api/v1/direct-debit', collection({ debtorName: 'Café' }))
  t.equal(collected.headers['sandbox-hint'], `debtorName ${latin}`)
  const link = (region: string, currency: string, payoutMethod: string) =>
    client.post('/api/v1/payout-links', payoutLink({ accountHolderName: 'Café', currency, payoutMethod }), { region })
  t.equal((await link('EU', 'EUR', 'SEPA-CT')).headers['sandbox-hint'], `accountHolderName ${latin}`)
  t.equal((await link('US', 'USD', 'US-ACH')).headers['sandbox-hint'], undefined, 'no SEPA payment')
})

t.test('settings, LOG_LEVEL: the time of a request has one decimal', async t => {
  const lines: string[] = []
  const app = build(t, { logger: pino({ level: 'debug' }, { write: (line: string) => lines.push(line) }) })
  await app.inject('/_sandbox/health/live')
  const { ms } = lines.map(line => JSON.parse(line)).find(({ msg }) => msg === 'request completed')
  t.match(String(ms), /^\d+(\.\d)?$/)
})
