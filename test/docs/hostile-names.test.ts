import { readFileSync } from 'node:fs'
import type { LightMyRequestResponse } from 'fastify'
import t from 'tap'
import { SeedRecords } from '../../src/sandbox/state/schemas.js'
import { gist } from '../answers.js'
import { build, connect } from '../helper.js'
import type { Batch, Pair } from '../hostile-names.js'
import { createBatch, FORM, NAMES, nextNames, POISON, queryOf, START_NAMES } from '../hostile-names.js'
import { exchange, listen, request, stock } from '../http/raw.js'
import { field, MULTIPART, multipart } from '../multipart.js'
import type { Json, Operation } from './contract.js'
import { DOCUMENTS, exampleRequest, operationsOf } from './contract.js'
import type { Place } from './schema-values.js'
import { placesOf, replaceAt } from './schema-values.js'

// Names that objects inherit, as values and as names, at each place that the documents have.

const MEMBERS = NAMES.flatMap((name, at) =>
  ['x', ...(at < 3 ? [POISON, POISON.prototype] : [])].map(value => [name, value] as const),
)

const app = build(t)
const documents = Object.values(DOCUMENTS).map(file => JSON.parse(readFileSync(`openapi/${file}`, 'utf8')))

/** The bodies that are too long for an example, by operationId: with one record of each kind. */
const bodies = (async () => {
  const client = await connect(app)
  await stock(client)
  for (const operation of documents.flatMap(operationsOf)) {
    const isKept = ['armFault', 'armOutcome', 'replaceDeprecations'].includes(operation.id)
    const { url, body } = exampleRequest(operation)
    if (isKept) await client.control(operation.method, url.slice('/_sandbox'.length), body)
  }
  const accountIdentifier = 'DE89370400440532013000'
  const account = { accountReference: 'ACC-0001', accountHolderName: 'Acme GmbH', currency: 'EUR', accountIdentifier }
  await client.control('POST', '/seed', { records: { accounts: [{ ...account, balance: '10.00' }] } })
  const { body: state } = await client.control('GET', '/state')
  const records = Object.entries<Json>(SeedRecords.properties).map(([kind, { items }]) => {
    const seeds = (state[kind] as Json[]).slice(0, 1).map(({ region, record }) => {
      const members = Object.entries({ region, ...record })
      return Object.fromEntries(members.filter(([name]) => Object.hasOwn(items.properties, name)))
    })
    return [kind, seeds]
  })
  return new Map<string, Json>([
    ['restoreState', state],
    ['seedRecords', { records: Object.fromEntries(records) }],
  ])
})()

/** Adds a member. A computed name never sets the prototype. */
const withMember = (object: unknown, name: string, value: unknown) => ({ ...Object(object), [name]: value })

/** Returns the value at a place. */
const at = (whole: Json, path: Place['path']): unknown => path.reduce((value, name) => value?.[name], whole)

const takesMembers = ({ schema }: Place) =>
  schema.type === 'object' || schema.properties !== undefined || schema.additionalProperties !== undefined

/** Sends the names to each place of an operation. Returns the status of its example. */
async function attack(batch: Batch, operation: Operation): Promise<number> {
  const { method, path, document, id } = operation
  const { url, headers: examples, mediaType, ...given } = exampleRequest(operation)
  const body = (await bodies).get(id) ?? given.body
  const parameters: readonly Json[] = operation.operation.parameters ?? []
  const placed = (place: string) => parameters.filter(one => one.in === place).map(({ name }): string => name)
  const required = parameters.filter(one => one.in === 'query' && one.required)
  const own: Pair[] = [
    ...(placed('query').includes('client') ? [['client', batch.clientId] as const] : []),
    ...required.map(({ name, example }): Pair => [name, String(example)]),
  ]
  const headers = {
    ...(path.startsWith('/api/') && { authorization: `Bearer ${batch.token}` }),
    ...examples,
    ...(mediaType && { 'content-type': mediaType === MULTIPART_FORM ? MULTIPART['content-type'] : mediaType }),
  }
  const example = {
    method: method as 'POST',
    url: url + queryOf(own),
    headers,
    ...(mediaType && { payload: encode(mediaType, body) }),
  }

  /** The control plane refuses names that it does not know. The API ignores them, with a hint (decisions §1). */
  const isUnknown = ({ statusCode, headers }: LightMyRequestResponse) =>
    statusCode >= 400 || headers['sandbox-hint'] !== undefined || path.startsWith('/.well-known/')
  const { statusCode } = await batch.send(example)
  for (const parameter of placed('path')) {
    await batch.each(nextNames(START_NAMES), name => ({
      ...example,
      url: path.replace(`{${parameter}}`, encodeURIComponent(name)).replace(/\{\w+\}/g, 'x') + queryOf(own),
    }))
  }
  for (const value of nextNames(START_NAMES)) {
    const others = placed('query').filter(name => name !== 'client')
    await batch.together(others, some => ({
      ...example,
      url: url + queryOf([...own, ...some.map(name => [name, value] as const)]),
    }))
    await batch.each(own, ([name]) => ({ ...example, url: url + queryOf([[name, value]]) }))
    await batch.each(Object.keys(headers), name => ({ ...example, headers: { ...headers, [name]: value } }))
  }
  const withNames = (names: readonly string[]) => ({
    ...example,
    url: url + queryOf([...own, ...names.map(name => [name, 'x'] as const)]),
  })
  await batch.together(START_NAMES, withNames, isUnknown)
  await batch.each([START_NAMES.flatMap(name => [name, name, `${name}[]`])], withNames, isUnknown)
  await batch.together(START_NAMES, some => ({
    ...example,
    headers: { ...headers, ...Object.fromEntries(some.map(name => [name, 'x'])) },
  }))

  if (mediaType === undefined) return statusCode
  if (mediaType === MULTIPART_FORM) {
    const file = { content: '%PDF-1.7\n' }
    const parts = NAMES.flatMap(name => [
      [{ ...file, name }],
      [field(name), file],
      [file, field(name)],
      [{ ...file, fileName: name }],
      [{ ...file, type: name }],
    ])
    await batch.each(parts, some => ({ ...example, payload: multipart(...some) }))
    return statusCode
  }
  const { schema } = operation.operation.requestBody.content[mediaType]
  for (const place of placesOf(document, schema)) {
    const sent = (value: unknown) => ({
      ...example,
      payload: encode(mediaType, replaceAt(body ?? {}, place.path, value)),
    })
    const names = nextNames()
    const isNumber = [place.schema.type].flat().some(type => type === 'integer' || type === 'number')
    await batch.each<unknown>(isNumber ? [...names, 0, -1, 1e9] : names, sent)
    const whole = at(body, place.path)
    if (!takesMembers(place)) continue
    const isRight = place.schema.properties === undefined ? undefined : isUnknown
    const members = MEMBERS.filter(([name]) => names.includes(name))
    await batch.each(members, ([name, value]) => sent(withMember(whole, name, value)), isRight)
  }
  return statusCode
}

const MULTIPART_FORM = 'multipart/form-data'

function encode(mediaType: string, body: Json): string | Buffer {
  if (mediaType === MULTIPART_FORM) return multipart({})
  if (mediaType !== FORM) return JSON.stringify(body ?? {})
  const fields = Object.entries(Object(body)).map(([name, value]): [string, string] => [name, String(value)])
  return new URLSearchParams(fields).toString()
}

for (const document of documents) {
  t.test(`decisions §1: ${document.info.title}: a name that objects inherit is a text like any other`, async t => {
    let inputs = 0
    for (const operation of operationsOf(document)) {
      const batch = await createBatch(app)
      const status = await attack(batch, operation)
      t.ok(status < 400 || status === 404 || status === 409, `${operation.id}: its example is valid: ${status}`)
      batch.check(t, operation.id)
      inputs += batch.inputs()
    }
    t.comment(`${inputs} inputs`)
    t.ok(inputs > 500, `${inputs} inputs`)
  })
}

t.test('decisions §1: on the wire, a name that objects inherit is a text like any other', async t => {
  const { token, check } = await createBatch(app)
  const port = await listen(app)
  const own = { connection: 'close', authorization: `Bearer ${token}`, 'x-region': 'EU' }
  for (const name of NAMES) {
    for (const line of [`/api/v1/mandates?${name}=x`, `/api/v1/mandates/${name}`, `/_sandbox/clock?client=${name}`]) {
      const [answer] = await exchange(port, request(`GET ${line}`, own))
      t.match(gist(answer), /^(200|4\d\d [A-Z_]+ \S+)$/, line.slice(0, 80))
    }
    const [answer] = await exchange(port, request('GET /api/v1/mandates', { ...own, [name]: 'x' }))
    t.match(gist(answer), name.length > 1000 ? /^431 / : /^200$/, `header ${name.slice(0, 80)}`)
  }
  check(t, 'on the wire')
})
