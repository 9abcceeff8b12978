import t from 'tap'
import { gist, holds, ILLEGAL, NO_ROUTE, table } from '../answers.js'
import { mandate, newClient, pluck } from '../helper.js'
import { explain, lead, move, type Path, WAYS } from './records.js'

/** The legal transitions of each kind with states: decisions §6, §7 and §8. */
const kinds: Record<Path, { verbs: string[]; unknown: string; legal: Record<string, Record<string, string>> }> = {
  mandates: {
    verbs: ['activate', 'fail', 'cancel', 'expire'],
    unknown: '404 MANDATE_NOT_FOUND mandateReference',
    legal: {
      PENDING: { activate: 'ACTIVE', fail: 'FAILED', cancel: 'CANCELLED' },
      ACTIVE: { cancel: 'CANCELLED', expire: 'EXPIRED' },
    },
  },
  'direct-debit': {
    verbs: ['submit', 'process', 'settle', 'fail', 'reject', 'return', 'cancel'],
    unknown: '404 COLLECTION_NOT_FOUND collectionReference',
    legal: {
      PENDING: { submit: 'SUBMITTED', fail: 'FAILED', cancel: 'CANCELLED' },
      SUBMITTED: { process: 'PROCESSING', reject: 'REJECTED' },
      PROCESSING: { settle: 'SETTLED', fail: 'FAILED', reject: 'REJECTED' },
      SETTLED: { return: 'RETURNED' },
    },
  },
  'payout-links': {
    verbs: ['claim', 'decline', 'process', 'pay', 'fail', 'expire', 'cancel'],
    unknown: '404 PAYOUT_LINK_NOT_FOUND payoutLinkId',
    legal: {
      ACTIVE: { claim: 'CLAIMED', decline: 'REJECTED', expire: 'EXPIRED', cancel: 'CANCELLED' },
      CLAIMED: { process: 'PROCESSING' },
      PROCESSING: { pay: 'PAID', fail: 'FAILED' },
      EXPIRED: { cancel: 'CANCELLED' },
      REJECTED: { cancel: 'CANCELLED' },
    },
  },
}

/** A new client with the mandate MND-0001, whose later mandates are PENDING. */
async function open() {
  const client = await newClient()
  await client.post('/api/v1/mandates', mandate())
  await client.control('PUT', '/settings', { mandateActivation: 'manual' })
  return client
}

const isNamed = (word: string, text: string) => new RegExp(`\\b${word}\\b`).test(text)

for (const [name, { verbs, unknown, legal }] of Object.entries(kinds)) {
  const path = name as Path

  t.test(
    `decisions §6, §7, §8: ${path}: from every state each verb is taken, or refused with the legal ones`,
    async t => {
      const client = await open()
      const legalIn = (status: string) => verbs.filter(verb => legal[status]?.[verb] !== undefined)
      const hasReason = (to: string) => path === 'direct-debit' && ['REJECTED', 'RETURNED', 'FAILED'].includes(to)
      const cases = Object.keys(WAYS[path]).flatMap(status =>
        verbs.map((verb): [string[], string] => {
          const to = legal[status]?.[verb]
          if (to === undefined) return [[status, verb], `${ILLEGAL}, legal are: ${legalIn(status)}`]
          return [[status, verb], `${to}${hasReason(to) ? ' with a reason' : ''}, legal are: ${legalIn(to)}`]
        }),
      )
      await holds(t, cases, async ([status, verb]) => {
        const reference = await lead(client, path, status, `REF-${status}-${verb}`)
        const before = await explain(client, path, reference)
        const ways = before.legal.map((row: { transition: string; to: string }) => [row.transition, row.to])
        t.same(Object.fromEntries(ways), legal[status] ?? {})
        const answer = await move(client, path, reference, verb)
        const after = await explain(client, path, reference)
        if (answer.status !== 200) {
          t.same(after, before, 'a refused verb changes nothing')
          const { message } = answer.body
          t.equal(isNamed('nothing', message), legalIn(status).length === 0)
          return `${gist(answer)}, legal are: ${verbs.filter(one => one !== verb && isNamed(one, message))}`
        }
        t.same(answer.body, after, 'a verb answers with the explained record')
        const { record, timeline } = after
        t.match(timeline.at(-1), { at: record.updatedAt, from: status, to: record.status, cause: 'control' })
        if (path !== 'payout-links') t.same(record, (await client.get(`/api/v1/${path}/${reference}`)).body)
        const next = verbs.filter(one => pluck(after.legal, 'transition').includes(one))
        return `${record.status}${'reasonCode' in record ? ' with a reason' : ''}, legal are: ${next}`
      })
      await table(t, ([verb, reference]) => move(client, path, reference, verb), {
        [unknown]: verbs.map(verb => [verb, 'NOT-THERE']),
        [NO_ROUTE]: [['vanish', 'NOT-THERE']],
      })
      t.equal(gist(await client.control('GET', `/${path}/NOT-THERE`)), unknown)
    },
  )
}

t.test('decisions §6, §7, §8: final states stay, however much time passes, and a moved record goes on', async t => {
  const client = await open()
  for (const path of Object.keys(WAYS) as Path[]) {
    const timed = ['ACTIVE', 'PENDING', 'SUBMITTED', 'CLAIMED', 'PROCESSING', 'SETTLED']
    const states = Object.keys(WAYS[path]).filter(status => path === 'mandates' || !timed.includes(status))
    for (const status of states) await lead(client, path, status, `REF-${status}`)
  }
  await lead(client, 'direct-debit', 'SUBMITTED', 'COL-MOVED')
  const { transitions } = (await client.advance({ by: 'P500D' })).body
  t.same(
    transitions.map(({ at, reference, to }: Record<string, string>) => `${at} ${reference} ${to}`),
    ['2026-11-06T08:00:00Z COL-MOVED PROCESSING', '2026-11-09T13:00:00Z COL-MOVED SETTLED'],
  )
})
