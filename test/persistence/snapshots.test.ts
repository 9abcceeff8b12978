import type { Database, SnapshotRow } from '../../src/turns/database.js'
import { checksumOf } from '../../src/turns/database.js'
import { refused } from '../answers.js'
import { bill, call, connect, mandate } from '../helper.js'
import { onDatabase, resume, stateOf } from './helper.js'

type Snapshots = Database['snapshots']
/** Replaces functions for the snapshots of a database. */
const withSnapshots = (replace: (snapshots: Snapshots) => Partial<Snapshots>) => ({
  wrap: (database: Database): Database => ({
    ...database,
    snapshots: { ...database.snapshots, ...replace(database.snapshots) },
  }),
})

onDatabase('persistence, State in tables: snapshots outlast a crash, and restore the same', async (t, storage) => {
  const first = await storage.start()
  const client = await connect(first.app)
  await client.post('/api/v1/mandates', mandate())
  const state = await stateOf(first.app)
  await client.control('PUT', '/snapshots/before')
  await client.control('POST', '/reset')
  await client.control('PUT', '/snapshots/empty')

  const { app } = await storage.restart(first)
  const { control } = resume(app, client.token)
  const { data } = (await control('GET', '/snapshots')).body
  t.match(data, [
    { name: 'before', counts: { mandates: 1 }, bytes: Buffer.byteLength(JSON.stringify(JSON.parse(state))) },
    { name: 'empty', counts: { mandates: 0 } },
  ])
  t.same((await control('GET', '/snapshots/before')).body, JSON.parse(state))
  t.match(await control('POST', '/snapshots/before/restore'), { status: 200, body: { counts: { mandates: 1 } } })
  t.equal(await stateOf(app), state)
  t.equal((await control('DELETE', '/snapshots/empty')).body.removed, 1)
  refused(t, await control('POST', '/snapshots/empty/restore'), 404, 'SNAPSHOT_NOT_FOUND', 'name')
  refused(t, await control('GET', '/snapshots/other'), 404, 'SNAPSHOT_NOT_FOUND', 'name')
})

onDatabase('persistence, State in tables: a large snapshot is kept in pieces, as a whole', async (t, storage) => {
  const { app } = await storage.start()
  const client = await connect(app)
  // Each name has pairs of surrogates, of which a piece must not end in the middle.
  const bills = Array.from({ length: 1300 }, (_, at) =>
    bill({ uniqueReferenceIdentifier: `INV-${at}`, description: '\u{1F600}'.repeat(200) }),
  )
  await client.control('POST', '/seed', { records: { bills } })
  const large = await stateOf(app)
  t.equal((await client.control('PUT', '/snapshots/one')).status, 200)
  await client.control('POST', '/reset')
  const small = await stateOf(app)
  t.equal((await client.control('POST', '/snapshots/one/restore')).status, 200)
  t.ok((await stateOf(app)) === large, 'the state is the same')
  await client.control('POST', '/reset')
  t.equal((await client.control('PUT', '/snapshots/one')).status, 200)
  t.same((await client.control('GET', '/snapshots/one')).body, JSON.parse(small))
  t.equal((await client.control('DELETE', '/snapshots/one')).body.removed, 1)
  t.same((await client.control('GET', '/snapshots')).body, { data: [] })
})

onDatabase('persistence, State in tables: a client has at most 20 snapshots; they go with it', async (t, storage) => {
  const { app } = await storage.start()
  const client = await connect(app)
  await connect(app, 'other')
  await call(app, 'PUT', '/_sandbox/snapshots/s1?client=other')
  const names = Array.from({ length: 22 }, (_, at) => `s${at}`)
  const answers = await Promise.all(names.map(name => client.control('PUT', `/snapshots/${name}`)))
  const statuses = answers.map(({ status }) => status)
  t.ok(statuses.filter(status => status === 400).length > 0, statuses.join())
  const listed = async (clientId: string) =>
    (await call(app, 'GET', `/_sandbox/snapshots?client=${clientId}`)).body.data
  t.ok((await listed('acme')).length >= 20)
  refused(t, await client.control('PUT', '/snapshots/more'), 400, 'INVALID_FIELD', 'name')
  t.equal(
    (await client.control('PUT', `/snapshots/${(await listed('acme'))[0].name}`)).status,
    200,
    'but it is replaced',
  )
  await call(app, 'DELETE', '/_sandbox/clients/acme')
  await connect(app)
  t.same(await listed('acme'), [])
  t.match(await listed('other'), [{ name: 's1' }])
})

onDatabase('persistence, State in tables: one saved while its client goes is not of the next', async (t, storage) => {
  let hold = Promise.resolve()
  const held = withSnapshots(({ save }) => ({ save: (...snapshot) => hold.then(() => save(...snapshot)) }))
  const { app } = await storage.start(held)
  const register = (secret: string) => connect(app, 'acme', 'EU', secret)
  const remove = () => call(app, 'DELETE', '/_sandbox/clients/acme')
  const names = async () => {
    const { data } = (await call(app, 'GET', '/_sandbox/snapshots?client=acme')).body
    return data.map(({ name }: { name: string }) => name)
  }
  for (const [what, meanwhile, after] of [
    ['removed', remove, () => register('second')],
    [
      'removed and registered',
      async () => {
        await remove()
        await register('third')
      },
      async () => {},
    ],
    ['reset', () => call(app, 'POST', '/_sandbox/reset?client=acme'), async () => {}],
  ] as const) {
    await register(what)
    t.equal((await call(app, 'PUT', '/_sandbox/snapshots/first?client=acme')).status, 200)
    let go = () => {}
    hold = new Promise(resolve => {
      go = resolve
    })
    const saving = call(app, 'PUT', '/_sandbox/snapshots/second?client=acme')
    // It has read the state when a later call is answered.
    await call(app, 'GET', '/_sandbox/snapshots?client=acme')
    await meanwhile()
    go()
    const answer = await saving
    refused(t, answer, 503, 'SERVICE_UNAVAILABLE', null, what)
    t.equal(answer.headers['retry-after'], '1')
    await after()
    t.same(await names(), what === 'reset' ? ['first'] : [], what)
    await remove()
  }
  t.equal((await call(app, 'PUT', '/_sandbox/snapshots/demo?client=sandbox-client')).status, 200, 'a first request')
})

onDatabase('persistence, State in tables: a snapshot is saved for the life of its client', async (t, storage) => {
  const wrap = (database: Database): Database => ({
    ...database,
    snapshots: {
      ...database.snapshots,
      async save(...snapshot) {
        await database.read(reader => reader.tenant('other'))
        return database.snapshots.save(...snapshot)
      },
    },
  })
  const { app, database } = await storage.start({ wrap })
  const client = await connect(app)
  await connect(app, 'other')
  t.equal((await call(app, 'POST', '/_sandbox/reset?client=other')).status, 200, 'its life is another one')
  t.equal((await client.control('PUT', '/snapshots/before')).status, 200)

  const life = (await database.read(reader => reader.tenant('other')))?.life
  t.equal(await database.snapshots.save('nobody', 'before', [], { most: 1, life }), 'past')
})

onDatabase('persistence, State in tables: a snapshot without its last piece is damaged', async (t, storage) => {
  const first = await storage.start()
  await connect(first.app)
  await call(first.app, 'PUT', '/_sandbox/snapshots/cut?client=acme')
  const { app } = await storage.change(first, "DELETE FROM sandbox_snapshot WHERE name = 'cut' AND number = 1")
  const cut = (method: string, action = '') => call(app, method, `/_sandbox/snapshots/cut${action}?client=acme`)
  refused(t, await cut('GET'), 503, 'SERVICE_UNAVAILABLE', null)
  refused(t, await cut('POST', '/restore'), 503, 'SERVICE_UNAVAILABLE', null)
})

onDatabase('persistence, State in tables: a damaged snapshot hides none, and can be replaced', async (t, storage) => {
  const damages = {
    text: "UPDATE sandbox_snapshot SET content = 'x' WHERE name = 'text' AND number = 0",
    facts: `UPDATE sandbox_snapshot SET content = '{"name":"facts"}' WHERE name = 'facts' AND number = 0`,
    missing: "DELETE FROM sandbox_snapshot WHERE name = 'missing' AND number = 0",
    moved: "UPDATE sandbox_snapshot SET name = 'other' WHERE name = 'moved' AND number = 0",
    negative: "UPDATE sandbox_snapshot SET number = -1 - number WHERE name = 'negative'",
  }
  const names = Object.keys(damages)
  let stored = await storage.start()
  await connect(stored.app)
  const send = (method: string, name: string, action = '') =>
    call(stored.app, method, `/_sandbox/snapshots${name}${action}?client=acme`)
  const listed = async () => (await send('GET', '')).body.data.map(({ name }: { name: string }) => name)
  for (const name of ['whole', ...names]) await send('PUT', `/${name}`)

  for (const repair of ['PUT', 'DELETE']) {
    stored = await storage.change(stored, Object.values(damages).join('; '))
    t.same(await listed(), ['whole'])
    t.equal((await send('GET', '/whole')).status, 200)
    for (const name of names) {
      refused(t, await send('GET', `/${name}`), 503, 'SERVICE_UNAVAILABLE', null, name)
      refused(t, await send('POST', `/${name}`, '/restore'), 503, 'SERVICE_UNAVAILABLE', null, name)
      t.equal((await send(repair, `/${name}`)).status, 200, `${repair} ${name}`)
      t.equal((await send('GET', `/${name}`)).status, repair === 'PUT' ? 200 : 404)
    }
    t.same(await listed(), repair === 'PUT' ? ['whole', ...names].sort() : ['whole'])
    await send('DELETE', '/other')
  }
})

onDatabase(
  'persistence, State in tables: one with a region or a kind that a release lacks is 503, and changes nothing',
  async (t, storage) => {
    let renamed = ['', '']
    const { app } = await storage.start(
      withSnapshots(snapshots => ({
        async find(clientId, name) {
          const rows = await snapshots.find(clientId, name)
          return rows.map(({ content: text }, at) => {
            const content = at === 0 ? text : text.replaceAll(...(renamed as [string, string]))
            return { content, checksum: checksumOf(clientId, name, rows[0]?.content ?? '', at, content) }
          })
        },
      })),
    )
    const client = await connect(app)
    await client.post('/api/v1/bills', bill())
    await client.control('PUT', '/snapshots/one')
    await client.post('/api/v1/mandates', mandate())
    const state = await stateOf(app)
    for (renamed of [
      ['"region":"EU"', '"region":"XX"'],
      ['"bills":', '"debts":'],
    ]) {
      refused(t, await client.control('POST', '/snapshots/one/restore'), 503, 'SERVICE_UNAVAILABLE', null, renamed[1])
      t.equal(await stateOf(app), state)
    }
  },
)

onDatabase('persistence, State in tables: one read while its client goes is not restored', async (t, storage) => {
  let meanwhile = async () => {}
  const late = withSnapshots(({ find }) => ({
    async find(...names) {
      const rows = await find(...names)
      await meanwhile()
      return rows
    },
  }))
  const { app } = await storage.start(late)
  const restore = () => call(app, 'POST', '/_sandbox/snapshots/one/restore?client=acme')
  const first = await connect(app)
  await first.post('/api/v1/mandates', mandate())
  await first.control('PUT', '/snapshots/one')
  meanwhile = async () => void (await first.control('POST', '/tokens/expire'))
  t.equal((await restore()).status, 200, 'another call changes nothing')
  meanwhile = async () => {
    await call(app, 'DELETE', '/_sandbox/clients/acme')
    await connect(app, 'acme', 'EU', 'another')
  }
  const answer = await restore()
  refused(t, answer, 503, 'SERVICE_UNAVAILABLE', null)
  t.equal(answer.headers['retry-after'], '1')
  t.match((await call(app, 'GET', '/_sandbox/mandates?client=acme')).body, { data: [] })
})

onDatabase('persistence, State in tables: a snapshot is read as a whole while it changes', async (t, storage) => {
  const { app, database } = await storage.start()
  await connect(app)
  const { find, remove, summaries } = database.snapshots
  const life = (await database.read(reader => reader.tenant('acme')))?.life
  const rowsOf = (text: string) => Array.from({ length: 20 }, (_, at) => ({ content: `${text} ${at}`, checksum: '' }))
  const save = (rows: readonly SnapshotRow[]) => database.snapshots.save('acme', 'one', rows, { most: 1, life })
  const before = rowsOf('before')
  const after = rowsOf('after')
  const noContent = null as unknown as string
  for (const [what, change, changed] of [
    ['replaced', () => save(after), after],
    ['not replaced', () => t.rejects(save([...after, { content: noContent, checksum: '' }])), before],
    ['removed', () => remove('acme', 'one'), []],
    [
      'gone with its client',
      async () => {
        const turn = await database.begin(['acme'])
        await turn.clear('acme', true)
        await turn.commit()
      },
      [],
    ],
  ] as const) {
    await save(before)
    t.equal(await database.snapshots.save('acme', 'two', before, { most: 1, life }), 'full')
    let isOver = false
    const changing = change().finally(() => {
      isOver = true
    })
    const whole = [before, changed].map(rows => JSON.stringify(rows))
    const firsts = [before, changed].map(([row]) => row?.content)
    // A change has a slice for each row, so there are reads between them.
    while (!isOver) {
      t.ok(whole.includes(JSON.stringify(await find('acme', 'one'))), `${what}: its rows`)
      t.ok(firsts.includes((await summaries('acme'))[0]?.content), `${what}: its summary`)
    }
    await changing
    t.same(await find('acme', 'one'), changed, what)
  }
})

onDatabase('control plane, GET /snapshots: a client id that a database cannot store is unknown', async (t, storage) => {
  const { app } = await storage.start()
  const requests = [
    ['PUT', '/a'],
    ['POST', '/a/restore'],
    ['GET', '/a'],
    ['GET', ''],
    ['DELETE', '/a'],
  ]
  for (const [method = '', path] of requests) {
    for (const clientId of ['%00', 'a%00b', 'x'.repeat(3000)]) {
      const answer = await call(app, method, `/_sandbox/snapshots${path}?client=${clientId}`)
      refused(t, answer, 404, 'CLIENT_NOT_FOUND', 'client', `${method} ${path}`)
    }
  }
})
