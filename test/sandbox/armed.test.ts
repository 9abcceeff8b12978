import t from 'tap'
import { invalid, malformed, refused, table } from '../answers.js'
import type { Client } from '../helper.js'
import { collection, mandate, newClient, pluck } from '../helper.js'

// control plane: faults and outcomes are armed, listed and removed alike.

let count = 1000
/** Creates a collection. Returns its outcome. */
async function steered(client: Client): Promise<string | undefined> {
  const collectionReference = `COL-${++count}`
  await client.post('/api/v1/direct-debit', collection({ collectionReference }))
  return (await client.read(`/direct-debit/${collectionReference}`)).record.outcome
}

const KINDS = {
  faults: {
    id: 'fault',
    code: 'FAULT_NOT_FOUND',
    bodies: [503, 429, 500].map(status => ({ effect: { kind: 'error', status } })),
    wrong: { effect: { kind: 'error', status: 500 }, ttl: 'PT0S' },
    /** What the next request meets. */
    met: async (client: Client): Promise<unknown> => (await client.get('/api/v1/mandates')).status,
    expected: [503, 429, 500, 200],
  },
  outcomes: {
    id: 'outcome',
    code: 'OUTCOME_NOT_FOUND',
    bodies: ['FAILED', 'CANCELLED', 'RETURNED'].map(outcome => ({ outcome })),
    wrong: { outcome: 'LOST' },
    met: steered,
    expected: ['FAILED', 'CANCELLED', 'RETURNED', undefined],
  },
} as const

for (const [path, { id, code, bodies, wrong, met, expected }] of Object.entries(KINDS)) {
  /** A client with three of the kind. */
  async function open() {
    const client = await newClient()
    await client.post('/api/v1/mandates', mandate())
    const arm = (body: unknown = bodies[0]) => client.control('POST', `/${path}`, body)
    const remove = (one = '') => client.control('DELETE', `/${path}${one && `/${one}`}`)
    const state = await client.read('/state')
    const ids = async () => pluck((await client.read('/state'))[path], 'id')
    for (const body of bodies) t.equal((await arm(body)).status, 201)
    return { client, arm, remove, state, ids }
  }

  t.test(
    `control plane, DELETE /faults: ${path}: removes one or all, armed or spent, and they have no effect any more`,
    async t => {
      const { client, remove, ids } = await open()
      t.equal(await met(client), expected[0])
      t.same((await remove(`${id}-1`)).body, { removed: 1 })
      await table(t, remove, { [`404 ${code} id`]: [`${id}-1`, `${id}-99`], [invalid('id')]: ['x'.repeat(65)] })
      t.same(await ids(), [`${id}-2`, `${id}-3`])
      t.equal(await met(client), expected[1])
      t.same((await remove()).body, { removed: 2 })
      t.same([await met(client), await ids()], [expected[3], []])
      t.same((await remove()).body, { removed: 0 })
    },
  )

  t.test(
    `control plane, POST /faults: ${path}: at most 1,000, with the spent ones, and no id is given again`,
    async t => {
      const { client, arm, remove } = await open()
      t.equal((await arm(wrong)).status, 400)
      await table(t, arm, { [malformed(null)]: ['{'], [invalid(null)]: ['[]'] })
      t.equal((await arm()).body.id, `${id}-4`, 'a refused one takes no number')
      await met(client)
      const state = await client.read('/state')
      const many = Array.from({ length: 999 }, (_, at) => ({ ...state[path][0], id: `${id}-${at + 1}` }))
      const counters = { ...state.ids.counters, [`${id} id`]: 0 }
      const document = { ...state, [path]: many, ids: { ...state.ids, counters } }
      t.equal((await client.control('PUT', '/state', document)).status, 200)
      t.equal((await arm()).body.id, `${id}-1000`, 'nor is an id of a state document')
      refused(t, await arm(), 400, 'INVALID_FIELD', null)
      await remove(`${id}-1000`)
      t.equal((await arm()).body.id, `${id}-1001`)
    },
  )
}
