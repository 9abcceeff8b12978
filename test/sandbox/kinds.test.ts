import t from 'tap'
import type { Json } from '../docs/contract.js'
import type { Client } from '../helper.js'
import { call, newClient, pluck } from '../helper.js'

const kindsOf = async ({ app }: Client): Promise<Json[]> => (await call(app, 'GET', '/_sandbox/kinds')).body.data

t.test('control plane, Reference: the kinds of records have their words, columns and related kinds', async t => {
  const kinds = await kindsOf(await newClient())
  t.same(pluck(kinds, 'name'), ['collections', 'mandates', 'payoutLinks', 'bills', 'counterparties', 'accounts'])
  const [collections, mandates, payoutLinks, , counterparties] = kinds
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

/** Returns the form of a verb for a record, with the values of the record. */
function bodyFor(record: Json, forms: Json[]): object {
  const { body, from, half } = forms.find(({ when }) =>
    Object.entries(when).every(([name, value]) => record[name] === value),
  )
  const given = Object.entries<string>(from).filter(([, member]) => record[member] !== undefined)
  const halves = Object.entries<string>(half).map(([name, member]) => [name, (record[member] / 2).toFixed(2)])
  return {
    ...body,
    ...Object.fromEntries([...given.map(([name, member]) => [name, record[member]]), ...halves]),
  }
}

t.test('control plane, Reference: each transition of a kind is made by a call with its form', async t => {
  const client = await newClient()
  await client.control('POST', '/seed', { fixture: 'demo' })
  const { body: before } = await client.control('GET', '/state')
  for (const { path, reference, regions, lifecycle } of await kindsOf(client)) {
    for (const { from, verb, to } of lifecycle?.transitions ?? []) {
      const { data } = await client.read(`/${path}?status=${from}`)
      const explain = async ({ region, record: { [reference]: name } }: Json) => ({
        region,
        ...(await client.read(`/${path}/${name}${regions === 'apart' ? `?region=${region}` : ''}`)),
      })
      const explained = await Promise.all(data.map(explain))
      const found = explained.find(({ legal }) => pluck(legal, 'verb').includes(verb))
      const { region, record } = found
      const { label, method, path: url, forms } = lifecycle.verbs.find((one: Json) => one.verb === verb)
      const address = url.replace(`{${reference}}`, record[reference])
      const body = bodyFor(record, forms)
      if (method === 'PATCH') await client.patch(address, body, { region })
      else await client.control('POST', address.replace('/_sandbox', ''), body)
      t.equal((await explain(found)).record.status, to, `${label}: ${path} from ${from}`)
      await client.control('PUT', '/state', before)
    }
  }
})

t.test('control plane, Reference: a claim by its form pays by each method', async t => {
  const client = await newClient()
  const kinds = await kindsOf(client)
  const { verbs } = kinds.find(({ name }) => name === 'payoutLinks').lifecycle
  const { forms } = verbs.find(({ verb }: Json) => verb === 'claim')
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
