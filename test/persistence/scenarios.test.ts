import { build, call, connect } from '../helper.js'
import { onDatabase, stateOf } from './helper.js'

onDatabase(
  'control plane, POST /scenarios/{name}: a database keeps the same state, and no failed one',
  async (t, storage) => {
    const memory = build(t)
    let stored = await storage.start()
    for (const app of [memory, stored.app]) await connect(app)
    const names: string[] = (await call(memory, 'GET', '/_sandbox/scenarios')).body.data.map(
      ({ name }: { name: string }) => name,
    )
    for (const name of names) {
      const answers = []
      for (const app of [memory, stored.app]) {
        const { status, body } = await call(app, 'POST', `/_sandbox/scenarios/${name}?client=acme`)
        answers.push([status, JSON.stringify(body)])
      }
      t.same(answers[1], answers[0], name)
      t.equal(answers[1]?.[0], 200, name)
    }
    stored = await storage.restart(stored)
    const state = await stateOf(memory)
    t.ok((await stateOf(stored.app)) === state, 'the same state after a restart')

    const body = { reasonCode: 'MD02' }
    const failed = await call(stored.app, 'POST', '/_sandbox/scenarios/collection-returned?client=acme', { body })
    t.match(failed, { status: 409, body: { code: 'ILLEGAL_TRANSITION', field: 'reasonCode' } })
    t.ok((await stateOf(stored.app)) === state, 'the same state after a failure')
    stored = await storage.restart(stored)
    t.ok((await stateOf(stored.app)) === state, 'and after a restart')
  },
)
