import t from 'tap'
import { CURRENCY_OF, gist, invalid, missing, NO_TEXT, REGIONS, table } from '../answers.js'
import type { Client } from '../helper.js'
import { newClient } from '../helper.js'

const PATH = '/api/v1/counterparties'
const CPTY = `${PATH}/CPTY-0001`
const UNKNOWN = '404 COUNTERPARTY_NOT_FOUND counterpartyReference'
const IMMUTABLE = '400 IMMUTABLE_FIELD counterpartyReference'

/** The branch identifier of each region: decisions §10. */
const BRANCHES = {
  EU: { type: 'BIC', value: 'DEUTDEFF' },
  UK: { type: 'SORT', value: '123456' },
  US: { type: 'ROUTING', value: '021000021' },
  IN: { type: 'IFSC', value: 'HDFC0000123' },
} as const

const address = (changes: object = {}) => ({ line1: 'Main Street 1', city: 'Berlin', country: 'DE', ...changes })
const seed = (client: Client, ...counterparties: object[]) =>
  client.control('POST', '/seed', { records: { counterparties } })

/** A new tenant with the counterparty CPTY-0001 in region EU. */
async function open(changes: object = {}): Promise<Client> {
  const client = await newClient()
  await seed(client, { region: 'EU', counterpartyReference: 'CPTY-0001', ...changes })
  return client
}

// ------------------------------------------------------------------------------------------------------- updates

t.test('decisions §10: members are updated one by one or together, and 200 has the whole record', async t => {
  const client = await open({ branchIdentifier: BRANCHES.EU })
  const update = {
    accountHolderName: 'Jane Doe',
    emailAddress: 'jane@example.com',
    mobileNumber: '+4915112345678',
    remarks: 'prefers e-mail',
    address: address({ line2: '2nd floor', postalCode: '10115', state: 'Berlin' }),
  }
  let record: object = { counterpartyReference: 'CPTY-0001', branchIdentifier: BRANCHES.EU }
  for (const [field, value] of Object.entries(update)) {
    record = { ...record, [field]: value }
    const { status, body } = await client.patch(CPTY, { [field]: value })
    t.same([status, body], [200, record], field)
  }
  const other = await open({ branchIdentifier: BRANCHES.EU })
  t.same((await other.patch(CPTY, update)).body, record, 'all at once')
  t.same((await other.patch(CPTY, { remarks: 'new' })).body, { ...record, remarks: 'new' }, 'and once more')
})

t.test('decisions §10: an update has at least one member, and the reference cannot change', async t => {
  const client = await open()
  const others = ['CPTY-0002', 'cpty-0001', 'CPTY-00011']
  const none = [{}, { colour: 'red' }, { counterpartyReference: 'CPTY-0001' }]
  await table(t, update => client.patch(CPTY, update), {
    [missing(null)]: [undefined, ...none],
    [invalid(null)]: [[{ remarks: 'x' }], 'null'],
    [IMMUTABLE]: others.map(counterpartyReference => ({ counterpartyReference, remarks: 'x' })),
    200: [{ counterpartyReference: 'CPTY-0001', remarks: 'y' }],
  })
  const message = 'Give at least one of accountHolderName, emailAddress, mobileNumber, remarks, address.'
  for (const update of none) t.equal((await client.patch(CPTY, update)).body.message, message)
})

t.test('decisions §1, §10: branchIdentifier and unknown members are ignored with a hint, and not stored', async t => {
  const client = await open({ branchIdentifier: BRANCHES.EU })
  const branchIdentifier = { type: 'BIC', value: 'COBADEFF' }
  const ignored = { branchIdentifier, colour: 'red', address: address({ planet: 'Earth' }) }
  const { headers, body } = await client.patch(CPTY, { remarks: 'x', ...ignored })
  const stored = { remarks: 'x', address: address(), branchIdentifier: BRANCHES.EU }
  t.same(body, { counterpartyReference: 'CPTY-0001', ...stored })
  for (const name of [/branchIdentifier/, /colour/, /address\.planet/]) t.match(headers['sandbox-hint'], name)
  t.equal(gist(await client.patch(CPTY, { branchIdentifier })), missing(null), 'on its own it is no update')
})

t.test('decisions §10: members take their own values, and a refused update changes nothing', async t => {
  const client = await open()
  const numbers = ['', '+', '4915112345678', '004915112345678', '+0915112345678', '+1234567890123456']
  const written = ['+49 151 12345678', '+49-151-12345678', '++4915112345678', '+4915112345678\n', '+４９15112345678']
  const mails = ['', 'jane', 'jane@', '@example.com', 'jane doe@example.com', 'a@b@c.de']
  const members: [field: string, right: string[], wrong: unknown[]][] = [
    ['accountHolderName', ['x', '💶'.repeat(140), 'O’Neil & Söhne'], ['', 'x'.repeat(141), '💶'.repeat(141)]],
    ['remarks', ['x', '💶'.repeat(256)], ['', 'x'.repeat(257), '💶'.repeat(257)]],
    ['mobileNumber', ['+4915112345678', '+123456789012345'], [...numbers, ...written]],
    ['emailAddress', ['a@b.de', 'jane.doe+x@mail.example.co.uk', "o'neil@example.com"], mails],
  ]
  const record: Record<string, unknown> = { counterpartyReference: 'CPTY-0001' }
  for (const [field, right, wrong] of members) {
    await table(t, value => client.patch(CPTY, { [field]: value }), {
      200: right,
      [invalid(field)]: [...wrong, ...NO_TEXT],
    })
    record[field] = right.at(-1)
  }
  t.equal(gist(await client.patch(CPTY, { remarks: 'not stored', mobileNumber: 'x' })), invalid('mobileNumber'))
  t.same((await client.patch(CPTY, { address: address() })).body, { ...record, address: address() })
})

t.test('decisions §10: an address has line1, city and country, a code of ISO 3166-1 alpha-2', async t => {
  const client = await open()
  const send = (changes: object) => client.patch(CPTY, { address: address(changes) })
  for (const part of ['line1', 'city', 'country']) {
    const rows = { [missing(`address.${part}`)]: [undefined, ''], [invalid(`address.${part}`)]: NO_TEXT }
    await table(t, value => send({ [part]: value }), rows)
  }
  for (const part of ['line2', 'postalCode', 'state']) {
    const rows = { 200: [undefined, 'x'], [invalid(`address.${part}`)]: ['', ...NO_TEXT] }
    await table(t, value => send({ [part]: value }), rows)
  }
  await table(t, country => send({ country }), {
    200: ['DE', 'GB', 'US', 'IN', 'AX', 'ZW'],
    [invalid('address.country')]: ['UK', 'EU', 'XX', 'ZZ', 'de', 'De', 'DEU', 'D', '49', 'Germany', 'DE '],
  })
  await table(t, value => client.patch(CPTY, { address: value }), {
    [missing('address.line1')]: [{}],
    [invalid('address')]: [null, 'Main Street 1', 7, []],
  })
})

// --------------------------------------------------------------------------------------------- path and regions

t.test('decisions §4: a counterparty belongs to its region, and the same reference may exist in another', async t => {
  const client = await newClient()
  const patch = (region: string | null) => client.patch(CPTY, { remarks: 'x' }, { region })
  for (const region of REGIONS) {
    t.equal(gist(await patch(region)), UNKNOWN, `${region}: not yet`)
    await seed(client, { region, counterpartyReference: 'CPTY-0001', accountHolderName: region })
  }
  for (const region of REGIONS) t.equal((await patch(region)).body.accountHolderName, region)
})

// ------------------------------------------------------------------------------------------------------- seeding

t.test('decisions §10: each region has its own type of branchIdentifier, valid by its rules', async t => {
  const client = await newClient()
  // The tests of core/identifiers have all other forms.
  const wrong = { EU: ['DEUTDEF', 'DEUTXXFF'], UK: ['12345', '12-34-56'], US: ['021000022'], IN: ['HDFC1000123'] }
  let count = 1000
  for (const region of REGIONS) {
    const { type } = BRANCHES[region]
    const accountIdentifier = region === 'EU' ? 'DE89370400440532013000' : '12345678'
    const own = { accountHolderName: 'Jane Doe', currency: CURRENCY_OF[region], accountIdentifier, balance: '1' }
    const kinds = {
      counterparties: () => ({ region, counterpartyReference: `CPTY-${++count}` }),
      accounts: () => ({ ...own, accountReference: `ACC-${++count}` }),
    }
    for (const [kind, record] of Object.entries(kinds)) {
      const at = `records.${kind}.0.branchIdentifier`
      const give = (branchIdentifier: object) =>
        client.control('POST', '/seed', { records: { [kind]: [{ ...record(), branchIdentifier }] } })
      await table(t, give, {
        200: [BRANCHES[region]],
        [invalid(`${at}.type`)]: REGIONS.filter(name => name !== region).map(name => BRANCHES[name]),
        [invalid(`${at}.value`)]: wrong[region].map(value => ({ type, value })),
      })
    }
  }
})
