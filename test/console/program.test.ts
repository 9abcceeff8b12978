import t from 'tap'
import { formatMoment, paceOf, toLabel } from '../../src/console/format.js'
import { lineOf, placesOf } from '../../src/console/lifecycle.js'
import { bodyOf, describe, fieldsOf, formFor, newRecord } from '../../src/console/schema.js'
import { threadOf } from '../../src/console/thread.js'
import type { Event, Kind, LoggedRequest, TransitionForm } from '../../src/console/types.js'
import { toCurl, toExpectation } from '../../src/sandbox/request-log/snippets.js'
import type { Json } from '../docs/contract.js'
import { build, call } from '../helper.js'

const app = build(t)
let [service, control, kinds]: Json[] = []
t.before(async () => {
  service = (await call(app, 'GET', '/openapi.json')).body
  control = (await call(app, 'GET', '/_sandbox/openapi.json')).body
  kinds = (await call(app, 'GET', '/_sandbox/kinds')).body.data
})

t.test('console, Actions: a form has a field for each member of its body, as the schema says', async t => {
  const found = describe(service, { method: 'POST', path: '/api/v1/mandates' })
  t.match(found, { regions: ['EU'], operation: { operationId: 'createMandate' } })
  const body = { mandateReference: 'MND-0001', debtor: { name: 'Jane', iban: 'DE1' } }
  const fields = fieldsOf(found?.body ?? {}, body)
  const of = (path: string) => fields.find(field => field.path === path)
  t.match(of('debtor.iban'), { label: 'Debtor IBAN', value: 'DE1', isOptional: false })
  t.match(of('signatureDate'), { label: 'Signature date (optional)', input: 'date', value: '' })
  t.same(
    of('type')?.options?.map(([value]) => value),
    ['', 'RECURRING', 'ONE_OFF'],
  )
  const typed = new Map(Object.entries({ 'debtor.iban': 'DE2', 'debtor.bic': '', 'creditor.name': 'Acme' }))
  const debtor = { name: 'Jane', iban: 'DE2' }
  t.same(bodyOf(fields, typed, body), { mandateReference: 'MND-0001', debtor, creditor: { name: 'Acme' } })
  t.equal(describe(service, { method: 'POST', path: '/api/v1/nothing' }), undefined)
})

t.test('console, Actions: texts of fields get the types of their members', async t => {
  const settings = describe(control, { method: 'PUT', path: '/_sandbox/settings' })?.body ?? {}
  const given = { senderName: 'Acme', allowedOrigins: ['https://a.example'], mandateActivation: 'manual' }
  const fields = fieldsOf(settings, given, Object.keys(given))
  const texts = new Map(Object.entries({ senderName: '', allowedOrigins: '' }))
  t.same(bodyOf(fields, texts, given, true), { ...given, senderName: null, allowedOrigins: [] })
  const fault = describe(control, { method: 'POST', path: '/_sandbox/faults' })?.body ?? {}
  const body = { match: { path: '/x' }, times: 1, effect: { kind: 'error', status: 503 } }
  const ofFault = fieldsOf(fault, body, ['match.path', 'times', 'effect.status', 'probability'])
  const typed = { 'match.path': '', times: '', 'effect.status': 'many', probability: '0.5' }
  t.same(bodyOf(ofFault, new Map(Object.entries(typed)), body), {
    ...{ effect: { kind: 'error', status: 'many' }, probability: 0.5 },
  })
})

t.test('console, Actions: a new record has a new reference and dates ahead, and names what exists', async t => {
  const kind = kinds.find(({ name }: Kind) => name === 'collections')
  const example = { collectionReference: 'COL-0139', mandateReference: 'X', collectionDate: '2020-01-01', amount: '1' }
  const found = (record: Json) => ({ kind: 'mandates', region: 'EU', createdAt: '', record })
  const named = [
    found({ mandateReference: 'MND-1', status: 'FAILED', type: 'RECURRING' }),
    found({ mandateReference: 'MND-2', status: 'ACTIVE', type: 'RECURRING' }),
  ]
  t.same(newRecord(kind, example, '2026-11-02T09:00:00Z', 77, named), {
    ...{ collectionReference: 'COL-77', mandateReference: 'MND-2', collectionDate: '2026-11-16', amount: '1' },
  })
  const forms: TransitionForm[] = [
    { when: { type: 'A' }, body: { a: 1 }, from: {}, half: {}, fields: [] },
    { when: {}, body: { openAmount: '1' }, from: { openAmount: 'totalAmount' }, half: {}, fields: ['openAmount'] },
  ]
  t.same(formFor({ type: 'B', totalAmount: '5' }, forms), { body: { openAmount: '5' }, fields: ['openAmount'] })
  for (const [totalAmount, half] of [
    ['1190.01', '595.01'],
    ['999999999.99', '500000000.00'],
    ['0.02', '0.01'],
  ]) {
    const ofHalf = [{ when: {}, body: {}, from: {}, half: { openAmount: 'totalAmount' }, fields: ['openAmount'] }]
    t.equal(formFor({ totalAmount }, ofHalf).body.openAmount, half)
  }
})

t.test('console, Actions: a request as a command and as a test', async t => {
  const headers = { authorization: 'Bearer ***', 'x-region': 'EU', 'content-type': 'application/json' }
  const request = {
    ...{ method: 'POST', path: '/api/v1/mandates/ä', query: { q: ['1', '2'] }, status: 201 },
    headers: { ...headers, 'sandbox-sender': 'console' },
    body: { name: "O'Neil", list: [1] },
  }
  t.equal(
    toCurl(request, 'http://own'),
    `curl 'http://own/api/v1/mandates/%C3%A4?q=1&q=2' \\\n  -H "Authorization: Bearer $TOKEN" \\\n  -H 'x-region: EU' \\\n` +
      `  -H 'content-type: application/json' \\\n  --data-raw '{"name":"O'\\''Neil","list":[1]}'`,
  )
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const token = { ...request, headers: form, query: {}, body: { client_id: 'a', client_secret: '***' } }
  t.match(toCurl(token, ''), '--data-urlencode "client_secret=$CLIENT_SECRET"')
  t.match(toCurl({ ...request, method: 'HEAD', body: null }, ''), /^curl --head /)
  t.match(toCurl({ ...request, body: '(9 bytes)' }, ''), '--data-binary @FILE')
  t.match(toExpectation(request), /^await sandbox\.requests\.expect\(\{\n {2}"method": "POST",.*"name": "O'Neil"/s)
  const hostile = { ...request, body: JSON.parse('{"__proto__": 1}') }
  t.match(toExpectation(hostile), '["__proto__"]: 1', 'a name never sets the prototype')
})

t.test('console, Pages: times, paces and labels', async t => {
  t.equal(formatMoment(Date.parse('2026-11-02T09:00:00Z')), 'Mon, 2 Nov 2026, 09:00:00 UTC')
  t.same([1, 60, 3600, 7200, 86_400, 90].map(paceOf), [
    ...['in real time', '1 minute a second', '1 hour a second', '2 hours a second', '1 day a second'],
    '90 seconds a second',
  ])
  t.same(['debtor.iban', 'effect.status', 'payoutLinkId'].map(toLabel), ['Debtor IBAN', 'Status', 'Payout link ID'])
})

t.test('console, Pages: a thread has requests before the events that they made, in the order of time', async t => {
  const at = '2026-11-02T09:00:00Z'
  const request = (seq: number, method: string) => ({ seq, at, method, status: 200 }) as LoggedRequest
  const event = (seq: number, cause: string, when = at) => ({ seq, at: when, cause }) as Event
  const later = event(2, 'time', '2026-11-03T09:00:00Z')
  const thread = threadOf([request(2, 'POST'), request(3, 'GET')], [event(1, 'api'), later, event(3, 'control')])
  const names = thread.map(entry => ('request' in entry ? `request ${entry.request.seq}` : `event ${entry.event.seq}`))
  t.same(names, ['request 2', 'event 1', 'request 3', 'event 3', 'event 2'])
})

t.test('console, Pages: no line of a drawing crosses a box, and no two end in one place', async t => {
  for (const { name, lifecycle } of kinds as Kind[]) {
    if (lifecycle === undefined) continue
    const places = placesOf(lifecycle)
    const boxes = [...places.values()].map(({ x, y }) => [x * 186, y * 76, 136, 44] as const)
    const placeOf = (state: string) => places.get(state) as { x: number; y: number }
    const lines = lifecycle.transitions.map(({ from, to }) => pointsOf(lineOf(placeOf(from), placeOf(to))))
    for (const [x, y, width, height] of boxes) {
      const isIn = ([px, py]: Point) => px > x && px < x + width && py > y && py < y + height
      t.notOk(lines.flat().some(isIn), `${name}: the box at ${x} ${y}`)
    }
    const ends = lines.map(points => points.at(-1) as Point)
    const isNear = ([x, y]: Point) => ends.filter(([ox, oy]) => Math.hypot(x - ox, y - oy) < 8).length > 1
    t.same(ends.filter(isNear), [], `${name}: heads of arrows are apart`)
  }
})

type Point = readonly [x: number, y: number]

/** Returns points of a line of a drawing, which has the commands M, V, H and C. */
function pointsOf(line: string): readonly Point[] {
  const points: Point[] = []
  for (const [, command, text = ''] of line.matchAll(/([MVHC])([^MVHC]+)/g)) {
    const numbers = text.split(' ').map(Number)
    const [x, y] = points.at(-1) ?? [0, 0]
    const from: Point = [x, y]
    const [a = 0, b = 0, c = a, d = b, toX = c, toY = d] =
      command === 'V' ? [x, numbers[0]] : command === 'H' ? [numbers[0], y] : numbers
    if (command === 'M') points.push([a, b])
    else
      for (let at = 0.05; at <= 1.001; at += 0.05)
        points.push(curveAt(at, from, command === 'C' ? [a, b] : from, [c, d], [toX, toY]))
  }
  return points
}

/** Returns a point of a cubic curve. */
function curveAt(at: number, ...[from, one, other, to]: readonly [Point, Point, Point, Point]): Point {
  const [a, b, c, d] = [(1 - at) ** 3, 3 * (1 - at) ** 2 * at, 3 * (1 - at) * at ** 2, at ** 3]
  return [a * from[0] + b * one[0] + c * other[0] + d * to[0], a * from[1] + b * one[1] + c * other[1] + d * to[1]]
}
