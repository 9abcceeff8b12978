import fs from 'node:fs'
import type { Test } from 'tap'
import t from 'tap'
import { replayFile } from '../../src/features/recording/replay-file.js'
import { createScenarios } from '../../src/features/scenarios/files.js'
import { OWN_FIXTURES } from '../../src/package.js'
import { buildServer } from '../../src/server.js'
import { loadFixtures } from '../../src/tenants/fixtures.js'
import { claim, createLink, open, pagePath, submit, tokenOf } from '../areas/pages.js'
import { command } from '../command.js'
import { bill, build, call, collection, connect, MONDAY, mandate, payoutLink } from '../helper.js'

// biome-ignore lint/suspicious/noExplicitAny: recordings are taken apart at every place
type Recording = any

/** The recording of a tenant that has had 6 requests. */
async function live(t: Test): Promise<Recording> {
  const app = build(t)
  const client = await connect(app)
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/direct-debit', collection({ debtorReference: 'SIM-REJECTED-AC01' }))
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/payout-links', payoutLink())
  await client.control('POST', '/clock/advance', { by: 'P10D' })
  await client.control('POST', '/seed', { fixture: 'demo' })
  return (await call(app, 'GET', '/_sandbox/recording?client=acme')).body
}

const SAME = { code: 0, stdout: 'acme: 6 requests, every answer is the same\n', stderr: '' }

function write(t: Test, content: unknown, name = 'recording.json'): string {
  const folder = t.testdirName
  if (!fs.existsSync(folder)) t.testdir()
  const path = `${folder}/${name}`
  fs.writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

t.test('control plane, payments-sandbox replay: exit code 0 where every answer is the same', async t => {
  const recording = await live(t)
  const settings = {
    SANDBOX_SEED: 'other',
    SANDBOX_CLOCK: '2020-01-01T00:00:00Z',
    SANDBOX_OPEN_REGISTRATION: 'false',
    SANDBOX_MAX_TENANTS: '1',
    SANDBOX_TOKEN_TTL: '1',
    SANDBOX_PUBLIC_URL: 'https://other.example',
    SANDBOX_ADMIN_TOKEN: 'hush',
    SANDBOX_RECORDING_BYTES: '0',
    SANDBOX_REQUEST_LOG_ENTRIES: '0',
    SANDBOX_DATA: `${t.testdirName}/data`,
  }
  t.same(await command(['replay', write(t, JSON.stringify(recording, null, 4))]), SAME)
  t.same(await command(['replay', write(t, recording)], settings), SAME)
  t.notOk(fs.existsSync(settings.SANDBOX_DATA))
  const bounded = await command(['replay', write(t, { ...recording, complete: false })])
  t.match(bounded, { code: 0, stdout: /stopped at its bound/ })

  // A request without an answer is applied.
  recording.requests[0].answer = null
  t.same(await command(['replay', write(t, recording)]), SAME)
  const none = await command(['replay', write(t, { ...recording, requests: [] })])
  t.match(none, { code: 0, stdout: /^acme: 0 requests, / })
})

t.test('control plane, payments-sandbox replay: --until has the faults and the address of its request', async t => {
  let now = Date.parse(MONDAY)
  const app = build(t, { now: () => now, publicUrl: host => `http://${host}` })
  const client = await connect(app)
  await client.control('POST', '/faults', {
    match: { method: 'DELETE' },
    ttl: 'PT3S',
    effect: { kind: 'error', status: 418 },
  })
  const linkAt = (host: string) => client.post('/api/v1/payout-links', payoutLink(), { headers: { host } })
  await linkAt('localhost:1')
  now += 3000
  await linkAt('localhost:2')
  const file = write(t, (await call(app, 'GET', '/_sandbox/recording?client=acme')).body)
  const [fixtures, scenarios] = [loadFixtures(OWN_FIXTURES), createScenarios(OWN_FIXTURES)]
  const stopped = async (until: string) => {
    const result = await replayFile({ file, until, fixtures, scenarios, buildServer, print: () => {} })
    if (typeof result === 'string') throw new Error(result)
    return [result.publicUrl, result.snapshot.faults.map(({ expiresAt }) => expiresAt)]
  }
  t.same(await stopped('2'), ['http://localhost:1', [undefined]])
  t.same(await stopped('3'), ['http://localhost:2', [Date.parse(MONDAY) + 3000]])
})

t.test('control plane, payments-sandbox replay: claims and declines of pages', async t => {
  const client = await connect(build(t))
  const [claimed, posted, declined] = [await createLink(client), await createLink(client), await createLink(client)]
  // The recording begins here, so its start has the links.
  await client.control('PUT', '/state', (await client.control('GET', '/state')).body)
  const form = { accountHolderName: 'Jane Doe', accountIdentifier: 'DE89370400440532013000' }
  t.equal((await claim(client, claimed, form)).statusCode, 303)
  const body = { action: 'claim', token: tokenOf(await open(client, posted)), ...form }
  t.equal((await call(client.app, 'POST', pagePath(client, posted), { body })).status, 200)
  const token = tokenOf(await open(client, declined))
  t.equal((await submit(client, declined, { action: 'decline', token })).statusCode, 303)

  const recording = (await client.control('GET', '/recording')).body
  const same = { code: 0, stdout: 'acme: 3 requests, every answer is the same\n', stderr: '' }
  t.same(await command(['replay', write(t, recording)]), same)
  // Earlier releases stored the address of a link.
  for (const { record } of recording.start.payoutLinks) record.url = `http://127.0.0.1:8080/pay/${record.payoutLinkId}`
  t.same(await command(['replay', write(t, recording)]), same)

  recording.start.payoutLinks[0].record.status = 'CANCELLED'
  t.match(await command(['replay', write(t, recording)]), {
    code: 1,
    stdout: /request 1 of 3 is answered otherwise: POST \/pay\/.*\n {2}recorded 303 \n {2}replayed 410 /,
  })
})

t.test('control plane, payments-sandbox replay: exit code 1 at the first answer that differs', async t => {
  const recording = await live(t)
  const answers = [/201 /, /201 /] as const
  const otherwise = (answer: object) => JSON.parse(JSON.stringify(answer).replaceAll('ACTIVE', 'FAILED'))
  const cases: [
    name: string,
    n: number,
    path: RegExp,
    answers: readonly [RegExp, RegExp],
    tamper: (copy: Recording) => object,
  ][] = [
    [
      'body of an answer',
      1,
      /mandates/,
      [/201 .*FAILED/, /201 .*ACTIVE/],
      ({ requests: [first] }) => Object.assign(first, { answer: otherwise(first.answer) }),
    ],
    [
      'status of an answer',
      3,
      /mandates/,
      [/201 .*DUPLICATE/, /409 .*DUPLICATE/],
      ({ requests }) => Object.assign(requests[2].answer, { status: 201 }),
    ],
    [
      'digest of an answer',
      6,
      /seed/,
      [/200 .*f00/, /200 /],
      ({ requests }) => Object.assign(requests[5], { answer: { status: 200, sha256: 'f00' } }),
    ],
    [
      'body of a request',
      1,
      /mandates/,
      [/201 .*RECURRING/, /201 .*ONE_OFF/],
      ({ requests }) => Object.assign(requests[0].body, { type: 'ONE_OFF' }),
    ],
    [
      'start',
      1,
      /mandates/,
      [/201 .*ACTIVE/, /201 .*PENDING/],
      ({ start }) => Object.assign(start.settings, { mandateActivation: 'manual' }),
    ],
    ['seed', 4, /payout-links/, answers, copy => Object.assign(copy, { seed: 'other' })],
    ['time', 2, /direct-debit/, answers, ({ requests }) => Object.assign(requests[1], { at: '2026-11-03T09:00:00Z' })],
  ]
  for (const [name, n, path, lines, tamper] of cases) {
    const copy = structuredClone(recording)
    tamper(copy)
    const { code, stdout, stderr } = await command(['replay', write(t, copy)])
    t.same([code, stderr], [1, ''], name)
    const [first = '', recorded = '', replayed = ''] = stdout.split('\n')
    t.match([first, recorded, replayed], [path, ...lines], name)
    t.ok(first.startsWith(`request ${n} of 6 is answered otherwise`), first)
    t.ok(/^ *recorded /.test(recorded) && /^ *replayed /.test(replayed), stdout)
  }
  recording.requests[0].answer.status = 500
  const until = await command(['replay', write(t, recording), '--until', '5'])
  t.match(until, { code: 1, stdout: /^request 1 of \d is answered otherwise/ }, 'also before --until')
})

t.test('control plane, payments-sandbox replay: a request that seeds a fixture has its records', async t => {
  const folder = t.testdir({ 'story.json': JSON.stringify({ bills: [bill()] }) })
  const app = build(t, { fixtures: loadFixtures(OWN_FIXTURES, folder) })
  const client = await connect(app)
  t.equal((await client.control('POST', '/seed', { fixture: 'story' })).status, 200)
  const file = `${folder}/recording`
  fs.writeFileSync(file, JSON.stringify((await client.control('GET', '/recording')).body))
  t.match(await command(['replay', file]), { code: 0, stdout: /: 1 requests, every answer is the same/ })
})

t.test('control plane, payments-sandbox replay: a scenario runs again, also one of a folder', async t => {
  const step = 'summary: A bill is PAID, later.\nafter: bill-paid\nsteps: [{ call: advanceClock, body: { by: P1D } }]'
  const folder = t.testdir({ scenarios: { 'later.yaml': step } })
  const client = await connect(build(t, { scenarios: createScenarios(OWN_FIXTURES, folder) }))
  for (const name of ['collection-returned', 'later']) {
    t.equal((await client.control('POST', `/scenarios/${name}`)).status, 200)
  }
  const file = `${folder}/recording`
  fs.writeFileSync(file, JSON.stringify((await client.control('GET', '/recording')).body))
  const expected = { code: 0, stdout: /: 2 requests, every answer is the same/ }
  t.match(await command(['replay', file, '--fixtures', folder]), expected)
  t.match(await command(['replay', file]), { code: 1, stdout: /^request 2 .*\n.*\n.*SCENARIO_NOT_FOUND/ })
})

t.test('decisions §3: the recording of a client of any name replays', async t => {
  for (const clientId of ['Käse & Söhne: 1/2', 'a#b?c%20']) {
    const app = build(t, { clients: [{ clientId, clientSecret: 'secret' }] })
    const client = encodeURIComponent(clientId)
    const records = { mandates: [mandate()] }
    await call(app, 'POST', `/_sandbox/seed?client=${client}`, { body: { records } })
    t.equal((await call(app, 'POST', `/_sandbox/mandates/MND-0001/cancel?client=${client}`)).status, 200)
    const file = write(t, (await call(app, 'GET', `/_sandbox/recording?client=${client}`)).body)
    t.match(await command(['replay', file]), { code: 0, stdout: `${clientId}: 2 requests, every answer is the same` })
  }
})

/** That a command ends with one line about each of its arguments, and exit code 2. */
async function refusals(cases: [name: string, args: string[], why: RegExp][]) {
  const rows = []
  for (const [name, args, why] of cases) {
    const { code, stdout, stderr } = await command(args)
    const isOneLine = /^payments-sandbox: [^\n]+\n$/.test(stderr)
    const namesFile = args[1] === undefined || stderr.includes(args[1])
    rows.push([name, code, stdout, isOneLine, namesFile, why.test(stderr.replace(args[1] ?? '', '')) || stderr])
  }
  return rows
}

t.test('control plane, payments-sandbox replay: exit code 2 for a file that is no recording', async t => {
  const recording = await live(t)
  const without = (name: string) => Object.fromEntries(Object.entries(recording).filter(([key]) => key !== name))
  const [first, ...others] = recording.requests
  const request = (changes: object) => ({ ...recording, requests: [{ ...first, ...changes }, ...others] })
  const start = (changes: object) => ({ ...recording, start: { ...recording.start, ...changes } })
  const record = {
    region: 'EU',
    sequence: 1,
    createdAt: '2026-11-02T09:00:00Z',
    record: { counterpartyReference: 'CPTY-1' },
  }
  const contents: [name: string, content: unknown, why: RegExp][] = [
    ['empty', '', /JSON/],
    ['half', JSON.stringify(recording).slice(0, -9), /JSON/],
    ['lines', '{\n"a":\n\n?', /JSON/],
    ['null', 'null', /object/],
    ['list', '[]', /object|format/],
    ['state', recording.start, /format.*payments-sandbox\/recording/],
    ['earlier version', { ...recording, version: recording.version - 1 }, /version/],
    ['later version', { ...recording, version: recording.version + 1 }, /version/],
    ...['format', 'version', 'clientId', 'seed', 'publicUrl', 'start', 'requests', 'complete'].map(
      (name): [string, unknown, RegExp] => [`no ${name}`, without(name), new RegExp(name)],
    ),
    ['clientId', { ...recording, clientId: '' }, /clientId/],
    ['seed', { ...recording, seed: 1 }, /seed/],
    ['requests', { ...recording, requests: {} }, /requests/],
    ['at', request({ at: '2026-11-02' }), /requests\.0\.at/],
    ['receivedAt', request({ receivedAt: '2026-11-02T09:00:00Z' }), /requests\.0\.receivedAt/],
    ['operation', request({ operation: 'BREW /api/v1/mandates' }), /requests\.0\.operation|BREW/],
    ['params', request({ params: 1 }), /requests\.0\.params/],
    ['answer', request({ answer: { status: '200' } }), /requests\.0\.answer\.status/],
    ['no answer', request({ answer: undefined }), /requests\.0\.answer/],
    ['start', start({ sequence: 'x' }), /start\.sequence/],
    ['sequence', start({ counterparties: [record] }), /sequence/],
    ['twice', start({ sequence: 2, counterparties: [record, { ...record, sequence: 2 }] }), /CPTY-1|counterparties/],
  ]
  const cases = contents.map(([name, content, why]): [string, string[], RegExp] => [
    name,
    ['replay', write(t, content, `${name}.json`)],
    why,
  ])
  cases.push(['missing', ['replay', `${t.testdirName}/none.json`], /./], ['folder', ['replay', t.testdirName], /./])
  t.same(
    await refusals(cases),
    cases.map(([name]) => [name, 2, '', true, true, true]),
  )
})

t.test('control plane, payments-sandbox replay: wrong usage ends with one line and exit code 2', async t => {
  const file = write(t, await live(t))
  const cases: [string, string[], RegExp][] = [
    ...['0', '99', '-1', '+1', '1.5', 'x', '', ' 1', '99999999999999999999'].map((text): [string, string[], RegExp] => [
      text,
      ['replay', file, `--until=${text}`],
      /--until.*from 1 to 7/,
    ]),
    ...[['replay'], ['replay', 'a', 'b'], ['replay', 'a', '--until'], ['start', '--until', '1']].map(
      (args): [string, string[], RegExp] => [args.join(' '), args, /./],
    ),
  ]
  const rows = await refusals(cases)
  const found = rows.map(([name, code, stdout, isOneLine, , why]) => [name, code, stdout, isOneLine, why])
  t.same(
    found,
    cases.map(([name]) => [name, 2, '', true, true]),
  )
})
