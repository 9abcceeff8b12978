import t from 'tap'
import { CURRENCY_OF, invalid, missing, REGIONS, table } from '../answers.js'
import type { Client } from '../helper.js'
import { newClient } from '../helper.js'
import { account } from './records.js'

const ACCOUNTS = '/api/v1/accounts'

const ofRegion = (currency: string, accountIdentifier: string, type: string, value: string) =>
  account({ currency, accountIdentifier, branchIdentifier: { type, value } })

/** One account of each region, with the branch identifier that belongs to it. */
const ACCOUNTS_BY_REGION = {
  EU: account(),
  UK: ofRegion('GBP', '12345678', 'SORT', '123456'),
  US: ofRegion('USD', '123456789', 'ROUTING', '021000021'),
  IN: ofRegion('INR', '50100012345678', 'IFSC', 'HDFC0000123'),
} as const

const seed = (client: Client, ...accounts: object[]) => client.control('POST', '/seed', { records: { accounts } })

t.test('decisions §4, §10: each region of a tenant lists its own accounts, with all their fields', async t => {
  const [client, other] = [await newClient(), await newClient()]
  await seed(client, ...Object.values(ACCOUNTS_BY_REGION))
  for (const region of REGIONS) {
    for (const currency of ['', ...Object.values(CURRENCY_OF)]) {
      const { body } = await client.get(ACCOUNTS + (currency && `?currency=${currency}`), { region })
      const data = currency === '' || CURRENCY_OF[region] === currency ? [ACCOUNTS_BY_REGION[region]] : []
      t.same(body, { totalCount: data.length, hasMore: false, nextCursor: null, data }, `${region} ${currency}`)
    }
  }
  t.same((await other.get(ACCOUNTS)).body.data, [], 'decisions §3: another tenant has none of them')
})

// ------------------------------------------------------------------------------------------------------- seeding

t.test('control plane, POST /seed: the members of an account have their limits', async t => {
  const client = await newClient()
  const at = 'records.accounts.0'
  let count = 1000
  const members: [field: string, right: string[], wrong: string[]][] = [
    ['accountReference', ['abc-5', 'x'.repeat(50)], ['abcd', 'x'.repeat(51), 'abc_5']],
    ['accountHolderName', ['x', '💶'.repeat(140)], ['x'.repeat(141), '💶'.repeat(141)]],
    ['currency', ['EUR'], ['eur', 'CHF']],
    ['accountIdentifier', ['FR1420041010050500013M02606'], ['DE89370400440532013001', 'de89370400440532013000', '12']],
    ['balance', ['0', '0.00', '-1.5', '-999999999.99'], ['1.234', '01', '1,00', 'x', '+1', '1e3']],
  ]
  const last = async () => (await client.get(`${ACCOUNTS}?limit=1`)).body.data[0]
  for (const [field, right, wrong] of members) {
    const send = async (value: unknown) => {
      const answer = await seed(client, account({ accountReference: `ACC-${++count}`, [field]: value }))
      return answer.status === 200 ? `stored ${(await last())[field] === value}` : answer
    }
    await table(t, send, {
      'stored true': right,
      [invalid(`${at}.${field}`)]: [...wrong, 7],
      [missing(`${at}.${field}`)]: [undefined, ''],
    })
  }
  await seed(client, account({ accountReference: 'ACC-BARE', branchIdentifier: undefined }))
  t.notOk('branchIdentifier' in (await last()), 'the one optional member')
})
