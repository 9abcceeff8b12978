import type { Client } from '../helper.js'
import { bill, collection, mandate, payoutLink } from '../helper.js'

const MANDATES = '/api/v1/mandates'
const COLLECTIONS = '/api/v1/direct-debit'
const LINKS = '/api/v1/payout-links'

/** Sends the requests of an app that uses a part of the service: it collects by direct debit, and pays out by links. */
export async function runApp(client: Client): Promise<void> {
  await client.get(COLLECTIONS)
  await client.post(MANDATES, mandate())
  await client.post(MANDATES, mandate())
  await client.post(MANDATES, mandate({ mandateReference: 'MND-0002', debtor: { name: 'Jane Doe', iban: 'DE00' } }))
  await client.get(`${MANDATES}/MND-0001`)
  const outcomes = ['', 'SIM-RETURNED-AM04', 'SIM-REJECTED-AC01']
  for (const [at, debtorReference] of outcomes.entries()) {
    const reference = { collectionReference: `COL-000${at + 1}`, ...(debtorReference && { debtorReference }) }
    await client.post(COLLECTIONS, collection(reference))
  }
  await client.post(COLLECTIONS, collection({ collectionReference: 'COL-0004', mandateReference: 'MND-9999' }))
  await client.get(COLLECTIONS)
  await client.advance({ by: 'P10D' })
  const { nextCursor } = (await client.get(`${COLLECTIONS}?limit=2`)).body
  await client.get(`${COLLECTIONS}?limit=2&cursor=${nextCursor}`)
  await client.get(`${COLLECTIONS}/COL-0001`)
  await client.control('POST', '/faults', { effect: { kind: 'error', status: 503 } })
  await client.get(`${COLLECTIONS}/COL-0001`)
  await client.control('POST', '/tokens/expire')
  await client.get(COLLECTIONS)
  await client.advance({ by: 'PT1S' })
  const { payoutLinkId } = (await client.post(LINKS, payoutLink())).body
  await client.post(LINKS, payoutLink({ amount: '1000000000' }))
  await client.patch(`${LINKS}/${payoutLinkId}/cancel`, { cancellationComment: 'Paid in cash' })
  await client.post('/api/v1/bills', bill())
}
