import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import t from 'tap'
import { build, call, NO_WAIT, requestToken } from '../helper.js'
import type { Json, Operation } from './contract.js'
import { createChecker, DOCUMENTS, exampleRequest, operationsOf } from './contract.js'
import type { Place } from './schema-values.js'
import { boundaryValues, placesOf, replaceAt, valuesOf } from './schema-values.js'

// Each answer is checked against the documents by ../check-answers.ts.

const SEED = 14
/** The number of random values for each place, beside those on and beside its bounds. */
const RANDOM_VALUES = 4
/** The most cases of one operation, evenly drawn. TEST_LONG=1 sends all: two operations have thousands. */
const MOST_CASES = 12
const FORM = 'application/x-www-form-urlencoded'

/** A parameter or the body of an operation. */
interface Part {
  readonly in: 'path' | 'query' | 'header' | 'body'
  readonly name: string
  readonly required: boolean
  readonly schema: Json
}

/** A generated request: the example of an operation with another value at one place. */
interface Case {
  readonly part: Part
  readonly place: Place
  readonly value: unknown
}

function partsOf({ operation }: Operation): Part[] {
  const { parameters = [], requestBody } = operation
  const [[mediaType, media] = []] = Object.entries<Json>(requestBody?.content ?? {})
  const hasBody = media !== undefined && mediaType !== 'multipart/form-data'
  return hasBody ? [...parameters, { in: 'body', name: 'body', ...requestBody, schema: media.schema }] : parameters
}

/** Draws the cases of an operation: all on and beside bounds, then random ones. */
function casesOf(operation: Operation): Case[] {
  const places = partsOf(operation).flatMap(part =>
    placesOf(operation.document, part.schema).map(place => ({ part, place })),
  )
  // Drawing takes longer than sending, so only the values that are sent are drawn.
  const draws = places.flatMap(({ part, place }) => [
    ...boundaryValues(place).map(value => () => ({ part, place, value })),
    ...Array.from({ length: RANDOM_VALUES }, (_, at) => () => ({ part, place, value: randomValue(place, at) })),
  ])
  const step = process.env.TEST_LONG === '1' ? 1 : Math.ceil(draws.length / MOST_CASES)
  return draws.filter((_, at) => at % step === 0).map(draw => draw())
}

const randomValue = (place: Place, at: number): unknown =>
  fc.sample(valuesOf(place), { seed: SEED + at, numRuns: 1 })[0]

/** Returns the texts of a parameter, and the value that they stand for in the terms of its schema. */
function encodeParameter({ schema }: Part, value: unknown): { texts: string[]; value: unknown } {
  const values = [value].flat().filter(one => one !== undefined)
  const texts = values.map(one => (typeof one === 'object' ? JSON.stringify(one) : String(one)))
  const isNumber = ['integer', 'number'].includes(schema.type)
  const parsed = texts.map(text => {
    if (schema.type === 'boolean' && /^(true|false)$/.test(text)) return text === 'true'
    return isNumber && /^-?\d+(\.\d+)?(e\+\d+)?$/.test(text) ? Number(text) : text
  })
  if (texts.length === 0) return { texts, value: undefined }
  return { texts, value: schema.type === 'array' || texts.length > 1 ? parsed : parsed[0] }
}

/** Returns the text of a body, and the value that it stands for. */
function encodeBody(mediaType: string | undefined, body: Json): { text: string | undefined; value: unknown } {
  const text = mediaType === FORM ? encodeForm(body) : JSON.stringify(body)
  if (text === undefined) return { text, value: undefined }
  return { text, value: mediaType === FORM ? Object.fromEntries(new URLSearchParams(text)) : JSON.parse(text) }
}

const encodeForm = (fields: Json) =>
  new URLSearchParams(
    Object.entries(Object(fields))
      .filter(([, value]) => value !== undefined)
      .map(([name, value]): [string, string] => [name, String(value)]),
  ).toString()

/** Makes the request of a case: the example with one part replaced. `value`: that part, as the server gets it. */
function requestOf(operation: Operation, exampleBody: Json, { part, place, value }: Case) {
  const { url, headers, mediaType } = exampleRequest(operation)
  const hasBody = mediaType !== undefined && !mediaType.startsWith('multipart/')
  const body = encodeBody(mediaType, part.in === 'body' ? replaceAt(exampleBody, place.path, value) : exampleBody)
  const example = {
    url,
    headers: { ...headers, ...(mediaType && { 'content-type': mediaType }) },
    ...(hasBody && { body: body.text }),
  }
  if (part.in === 'body') return { ...example, value: body.value }

  const { texts, value: sent } = encodeParameter(part, value)
  const encoded = texts.map(encodeURIComponent)
  const { [part.name]: _, ...otherHeaders } = example.headers as Record<string, string>
  switch (part.in) {
    case 'path':
      return { ...example, url: operation.path.replace(`{${part.name}}`, encoded.join()), value: sent }
    case 'query':
      return { ...example, url: `${url}?${encoded.map(text => `${part.name}=${text}`).join('&')}`, value: sent }
    case 'header':
      return { ...example, headers: { ...otherHeaders, ...(texts[0] && { [part.name]: texts[0] }) }, value: sent }
  }
}

const app = build(t, { timers: NO_WAIT })

/** Puts the demo client back to its fixture. Returns the header of a new token. */
async function reset(): Promise<string> {
  await call(app, 'POST', '/_sandbox/reset')
  const demo = { client_id: 'sandbox-client', client_secret: 'sandbox-secret' }
  return `Bearer ${(await requestToken(app, demo)).body.access_token}`
}

/** Sends the cases of an operation as the demo client. Returns those with an answer that no client could expect. */
async function walk(operation: Operation, isValid: (schema: Json, value: unknown) => boolean) {
  let authorization = await reset()
  // A state is too long for an example.
  const isState = operation.id === 'restoreState'
  const exampleBody = isState
    ? (await call(app, 'GET', '/_sandbox/state')).body
    : (exampleRequest(operation).body ?? {})
  const cases = casesOf(operation)
  const wrong: unknown[] = []
  for (const { part, place, value: given } of cases) {
    const { value, headers, url, ...body } = requestOf(operation, exampleBody, { part, place, value: given })
    const options = { headers: { authorization, ...headers }, ...body }
    const { status, body: answer } = await call(app, operation.method, url, options)
    const isLegal = value === undefined ? !part.required : isValid(part.schema, value)
    if (status >= 500 || (!isLegal && status < 400)) {
      wrong.push([[part.name, ...place.path].join('.'), given, status, answer?.code, answer?.message])
    }
    if (operation.method !== 'GET' && status < 300) authorization = await reset()
  }
  return { count: cases.length, wrong }
}

for (const file of Object.values(DOCUMENTS)) {
  t.test(`decisions §1: ${file}: a value at or beside a bound gets no 5xx, and an illegal one is refused`, async t => {
    const document = JSON.parse(readFileSync(`openapi/${file}`, 'utf8'))
    const faultOf = createChecker(document)
    let total = 0
    for (const operation of operationsOf(document)) {
      const { count, wrong } = await walk(operation, (schema, value) => faultOf(schema, value) === null)
      total += count
      t.same(wrong, [], operation.id)
    }
    t.comment(`${total} requests`)
    t.ok(total > 200, `${total} requests`)
  })
}
