import t from 'tap'
import type { Area } from '../../src/areas/index.js'
import { areas, byUse } from '../../src/areas/index.js'
import type { Json } from '../docs/contract.js'
import type { Client } from '../helper.js'
import { build, call, connect, newClient, pluck } from '../helper.js'
import { bodyFor, makeAll } from '../transitions.js'

const kindsOf = async ({ app }: Client): Promise<Json[]> => (await call(app, 'GET', '/_sandbox/kinds')).body.data

t.test('decisions §12: the kinds of records have their words, columns and related kinds', async t => {
  const kinds = await kindsOf(await newClient())
  t.same(pluck(kinds, 'name'), byUse())
  const { collections, mandates, payoutLinks, counterparties } = Object.fromEntries(
    kinds.map(kind => [kind.name, kind]),
  )
  t.match(collections, {
    path: 'direct-debit',
    reference: 'collectionReference',
    regions: 'EU',
    columns: ['amount', 'collectionDate'],
    empty: /POST \/api\/v1\/direct-debit/,
    names: [{ member: 'mandateReference', name: 'mandates', accepts: { status: 'ACTIVE', type: 'RECURRING' } }],
  })
  t.ok(collections.outcomes.includes('RETURNED-AM04'))
  t.match(mandates, { isCreated: true, isListed: true, isUpdated: false, names: [], outcomes: [] })
  t.match(payoutLinks, { title: 'Payout links', noun: 'payout link', lifecycle: { kind: 'payoutLink' } })
  t.match(counterparties, { isCreated: false, isListed: false, isUpdated: true })
  t.notOk('lifecycle' in counterparties)
})

/** Seeds a record of each state of the kinds that demo lacks, as it lacks those of a new area. */
async function seedOthers({ control, read }: Client) {
  const state = await read('/state')
  for (const [name, { create, lifecycle, reference }] of Object.entries<Area>(areas)) {
    const [example] = create?.examples ?? []
    if (state[name].length > 0 || example === undefined) continue
    const records = lifecycle?.states.map(status => ({
      ...example,
      [reference]: `${example[reference]}-${status}`,
      status,
    }))
    await control('POST', '/seed', { records: { [name]: records } })
  }
}

t.test('decisions §12: each transition of a kind is made by a call with its form, and by its command', async t => {
  const app = build(t)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const client = await connect(app)
  await client.control('POST', '/seed', { fixture: 'demo' })
  await seedOthers(client)
  for (const { name } of await kindsOf(client)) await t.test(name, t => makeAll(t, client, name))
})

t.test('decisions §12: a claim by its form pays by each method', async t => {
  const client = await newClient()
  const kinds = await kindsOf(client)
  const { operations } = kinds.find(({ name }) => name === 'payoutLinks').lifecycle
  const { forms } = operations.find(({ transition }: Json) => transition === 'claim')
  const payoutLinks = forms.map(({ when: { payoutMethod } }: Json) => ({
    ...{ payoutLinkId: `pl_${payoutMethod}`, amount: '1', payoutMethod, accountHolderName: 'Ida Lindholm' },
    currency: { SEPA: 'EUR', US: 'USD', UK: 'GBP' }[payoutMethod.split('-')[0] as string],
  }))
  t.match(await client.control('POST', '/seed', { records: { payoutLinks } }), { body: { added: { payoutLinks: 5 } } })
  for (const link of payoutLinks) {
    const { status, body } = await client.control(
      'POST',
      `/payout-links/${link.payoutLinkId}/claim`,
      bodyFor(link, forms),
    )
    t.match([status, body.record.claim], [200, { accountHolderName: 'Ida Lindholm' }], link.payoutMethod)
  }
})
