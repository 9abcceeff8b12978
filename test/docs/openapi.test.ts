import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { parse } from 'yaml'
import type { ErrorCode } from '../../src/core/errors.js'
import { catalogue } from '../../src/core/errors.js'
import { build, call, MONDAY, requestToken } from '../helper.js'
import { upload } from '../multipart.js'
import type { Json, Operation } from './contract.js'
import { createChecker, DOCUMENTS, exampleRequest, operationsOf, resolve } from './contract.js'

const app = build(t)
const documents: Record<string, Json> = {}
const operations: Operation[] = []
t.before(async () => {
  for (const path of Object.keys(DOCUMENTS)) {
    documents[path] = (await call(app, 'GET', path)).body
    operations.push(...operationsOf(documents[path]))
  }
})
const service = () => documents['/openapi.json']

t.test('fidelity, Documented and assumed: openapi/ is what is served (npm run openapi)', async t => {
  for (const [path, file] of Object.entries(DOCUMENTS)) {
    const isServed = isDeepStrictEqual(JSON.parse(readFileSync(`openapi/${file}`, 'utf8')), documents[path])
    t.ok(isServed, `openapi/${file} is what is served. Otherwise, run npm run openapi`)
  }
})

t.test('fidelity, Documented and assumed: GET /openapi.yaml is the same document', async t => {
  const { payload, headers } = await app.inject('/openapi.yaml')
  t.match(headers['content-type'], 'application/yaml')
  t.same(parse(payload), service())
})

t.test('fidelity, Documented and assumed: the documents have every route of the server', async t => {
  const other = build(t)
  const routes: string[] = []
  other.addHook('onRoute', ({ method, url, schema }) => {
    if (method !== 'HEAD' && !schema?.hide) routes.push(`${method} ${url.replace(/:(\w+)/g, '{$1}')}`)
  })
  await other.ready()
  t.same(operations.map(({ method, path }) => `${method} ${path}`).sort(), routes.sort())
})

t.test('fidelity, Documented and assumed: the first server of a document is the public URL', async t => {
  const other = build(t, { publicUrl: () => 'https://sandbox.example/base' })
  for (const path of Object.keys(DOCUMENTS)) {
    const { servers } = (await call(other, 'GET', path)).body
    const found = servers.map(({ url }: Json) => url)
    t.same(found, ['https://sandbox.example/base', '/'])
  }
})

t.test('fidelity, Documented and assumed: a document names its components as the service does', async t => {
  t.equal(service().openapi, '3.1.0')
  const names = [
    'AccessTokenResponse',
    'CollectionListEnvelope',
    'CollectionRequestSummary',
    'ErrorEnvelope',
    'MandateCreditorBankIdentifier',
  ]
  const wrong = names.filter(name => service().components.schemas[name] === undefined)
  t.same(wrong, [])
  t.same(service().components.securitySchemes.bearerAuth.scheme, 'bearer')
})

t.test('fidelity, Documented and assumed: each operation has an id, a summary, a tag, and a label', async t => {
  t.equal(new Set(operations.map(({ id }) => id)).size, operations.length)
  const wrong = operations.map(({ id }) => id).filter(id => !/^[a-z]+[A-Za-z]+$/.test(id))
  t.same(wrong, [])
  const incomplete = operations.filter(({ document, operation: { summary, tags, description, ...rest } }) => {
    const isService = document === service()
    const known = document.tags.map(({ name }: Json) => name)
    return !summary || !known.includes(tags?.[0]) || (isService && !description) || rest['x-fidelity'] === undefined
  })
  const others = incomplete.map(({ id }) => id)
  t.same(others, [])
})

/** Returns all parameters and properties of a document, by their place. */
function fieldsOf(document: Json): [place: string, field: Json][] {
  const found: [string, Json][] = []
  function properties(place: string, schema: Json) {
    for (const [name, property] of Object.entries<Json>(schema?.properties ?? {})) {
      found.push([`${place}.${name}`, property])
      properties(`${place}.${name}`, property)
    }
    if (schema?.items) properties(`${place}[]`, schema.items)
  }
  for (const { id, operation, responses } of operationsOf(document)) {
    for (const parameter of operation.parameters ?? []) found.push([`${id} ${parameter.name}`, parameter])
    for (const { schema } of Object.values<Json>(operation.requestBody?.content ?? {})) properties(id, schema)
    for (const [status, { content }] of Object.entries(responses)) {
      for (const { schema } of Object.values<Json>(content ?? {})) properties(`${id} ${status}`, schema)
    }
  }
  for (const [name, schema] of Object.entries<Json>(document.components.schemas)) properties(name, schema)
  return found
}

/** Returns all that has to have a label, by its place. */
function labelledPlaces(document: Json): [place: string, labelled: Json][] {
  const found = fieldsOf(document)
  for (const { id, operation, responses } of operationsOf(document)) {
    found.push([id, operation])
    for (const [status, response] of Object.entries(responses)) {
      found.push([`${id} ${status}`, response])
      for (const [name, header] of Object.entries<Json>(response.headers ?? {})) {
        found.push([`${id} ${status} ${name}`, resolve(document, header)])
      }
    }
  }
  return found
}

t.test('fidelity, Documented and assumed: all has a label, and a note is one line', async t => {
  const all = Object.values(documents).flatMap(labelledPlaces)
  t.ok(all.length > 2000, `${all.length} places`)
  const wrong = all.filter(([, { 'x-fidelity': label, 'x-fidelity-note': note = 'There is none.' }]) => {
    return !['documented', 'assumed'].includes(label) || !/^[A-Z`].{10,}\.$/.test(note)
  })
  t.same(
    wrong.map(([place]) => place),
    [],
  )
})

t.test('fidelity, Documented and assumed: the document of the service is small', async t => {
  const { length } = JSON.stringify(service())
  t.ok(length < 114_000, `${length} characters`)
})

t.test('fidelity, Documented and assumed: all has a description, a text its form', async t => {
  const all = Object.values(documents).flatMap(fieldsOf)
  t.ok(all.length > 1000, `${all.length} places`)
  const isDescribed = ([, field]: [string, Json]) => {
    const { type, pattern, format, description } = { ...field.schema, ...field }
    const hasForm = type === 'string' && (pattern ?? format ?? 'binary') !== 'binary'
    return typeof description === 'string' && (hasForm ? /\S\. \S.*\.$/ : /\S\.$/).test(description)
  }
  const wrong = all.filter(field => !isDescribed(field)).map(([place]) => place)
  t.same(wrong, [])
})

t.test('fidelity, Documented and assumed: labels of answers are those of the interface', async t => {
  const documented = operationsOf(service()).flatMap(({ id, responses }) =>
    Object.entries(responses)
      .filter(([status, response]) => response['x-fidelity'] === 'documented' && status !== 'default')
      .map(([status]) => `${id} ${status}`),
  )
  const withParameter = operationsOf(service()).filter(({ path }) => path.includes('{'))
  t.same(
    documented.sort(),
    [
      'issueToken 200',
      'listCollections 200',
      'cancelPayoutLink 204',
      ...withParameter.flatMap(({ id }) => [`${id} 400`, `${id} 404`]),
    ].sort(),
  )
  const others = operationsOf(service()).map(({ responses }) => responses.default['x-fidelity'])
  t.same(new Set(others), new Set(['documented']))
  t.same(
    operationsOf(documents['/_sandbox/openapi.json']).filter(({ responses }) =>
      Object.values(responses).some(response => response['x-fidelity'] === 'documented'),
    ),
    [],
  )
})

/** The notes of labels that are not plain, by a place in the document of the service: what is documented, what is not. */
const NOTES: [find: (service: Json) => Json, label: string, note: RegExp][] = [
  [({ components }) => components.securitySchemes.bearerAuth, 'documented', /for the other operations it is assumed/i],
  [({ components }) => components.schemas.BillUpdateRequest.properties.dueDate, 'assumed', /documents a due date/],
  [({ components }) => components.schemas.Bill.properties.currency, 'assumed', /mismatch of region and currency/],
  [({ components }) => components.schemas.BillListEnvelope.properties.nextCursor, 'assumed', /that the list has pages/],
  [({ components }) => components.schemas.MandateListEnvelope.properties.nextCursor, 'assumed', /^$/],
  [
    ({ components }) => components.schemas.PayoutLink.properties.currency,
    'documented',
    /Assumed: each belongs to a region/,
  ],
  [({ components }) => components.schemas.PayoutLink.properties.payoutMethod, 'documented', /Assumed: each belongs/],
  [({ components }) => components.schemas.Mandate.properties.type, 'documented', /Assumed: a ONE_OFF mandate/],
  [
    ({ components }) => components.schemas.CollectionCreateRequest.properties.debtorName,
    'documented',
    /Assumed: by default/,
  ],
  [
    ({ components }) => components.schemas.CollectionCreateRequest.properties.debtorReference,
    'documented',
    /Assumed: by/,
  ],
  [
    ({ components }) => components.schemas.CollectionCreateRequest.properties.collectionDate,
    'documented',
    /Assumed: a day/,
  ],
  [({ paths }) => paths['/api/v1/oauth/token'].post.responses.default, 'documented', /`error_description` are assumed/],
  [
    ({ paths }) => paths['/api/v1/bills/{uniqueReferenceIdentifier}/document'].post,
    'documented',
    /multipart.* is assumed/,
  ],
  [({ paths }) => parameterOf(paths['/api/v1/bills'].get, 'cursor'), 'assumed', /that the list has pages/],
  [({ paths }) => parameterOf(paths['/api/v1/bills'].get, 'limit'), 'assumed', /that the list has pages/],
  [({ paths }) => parameterOf(paths['/api/v1/bills'].get, 'x-region'), 'documented', /its values EU, IN, US and UK/],
  [({ paths }) => parameterOf(paths['/api/v1/bills'].post, 'x-region'), 'documented', /^$/],
]
const parameterOf = ({ parameters }: Json, name: string): Json =>
  parameters.map((one: Json) => resolve(service(), one)).find((one: Json) => one.name === name)

t.test('fidelity, Documented and assumed: notes separate what is documented from what is assumed', async t => {
  for (const [find, label, note] of NOTES) {
    const { 'x-fidelity': found, 'x-fidelity-note': said = '' } = resolve(service(), find(service()))
    t.equal(found, label, String(find))
    t.match(said, note, String(find))
  }
})

/** Words of rules that the sandbox adds. A description of a documented field has none of them: its note has. */
const RULES = /by default|must belong|two open days|T2|SIM-|steers|ONE_OFF mandate|sets that to 0|created with/

t.test('fidelity, Documented and assumed: no description of a documented field has an assumed rule', async t => {
  const found = fieldsOf(service())
    .filter(([place]) => !place.startsWith('issueToken'))
    .filter(([, field]) => field['x-fidelity'] === 'documented' && RULES.test(field.description))
    .map(([place, { description }]) => `${place}: ${description}`)
  const wrong = found.filter(place => !/expiryPeriod/.test(place))
  t.same(wrong, [], 'the notes of expiryPeriod separate its defaults')
})

t.test('interface, Versioning: Sunset is a date-time', async t => {
  t.same(service().components.headers.Sunset.schema, { type: 'string', format: 'date-time' })
})

t.test('interface, POST /api/v1/oauth/token: the members of RFC 6749 are optional in its errors', async t => {
  t.same(service().components.schemas.TokenErrorEnvelope.required, ['code', 'field', 'message'])
})

t.test('interface, PATCH /api/v1/payout-links/{payoutLinkId}/cancel: an id with a slash is described', async t => {
  const withIdentifier = operationsOf(service()).filter(({ path }) => path.includes('{'))
  const silent = withIdentifier.filter(({ operation }) =>
    operation.parameters.some((one: Json) => one.in === 'path' && !/A slash is a path separator/.test(one.description)),
  )
  const wrong = silent.map(({ id }) => id)
  t.same(wrong, [])
  const { cancellationComment } = service().components.schemas.PayoutLinkCancelRequest.properties
  t.match(cancellationComment.description, /when the counterparty rejects the link for the payout/)
})

t.test(
  'fidelity, Documented and assumed: an operation has a response for each status of errors of its own',
  async t => {
    const used = new Set<string>()
    for (const { id, codes, responses } of operations) {
      for (const code of codes) used.add(code)
      const others = Object.keys(responses).filter(status => status !== 'default' && Number(status) >= 400)
      const unused = others.filter(status => !codes.some(code => String(catalogue[code].status) === status))
      t.same(unused, [], id)
      const own = codes.map(code => catalogue[code].status).filter(status => [400, 404, 409].includes(status))
      t.ok(
        [...own, 'default'].every(status => responses[status] !== undefined),
        id,
      )
    }
    // Only the pages of payout links answer these. The documents leave pages out.
    for (const code of ['INVALID_PAGE_TOKEN', 'PAYOUT_LINK_CLOSED', 'UI_MODE_MISMATCH']) used.add(code)
    t.same([...used].sort(), Object.keys(catalogue).sort())
  },
)

t.test('fidelity, Documented and assumed: every example validates', async t => {
  let count = 0
  const wrong: string[] = []
  for (const document of Object.values(documents)) {
    const faultOf = createChecker(document)
    const check = (place: string, schema: Json, example: unknown) => {
      count++
      const fault = faultOf(schema, example)
      if (fault !== null) wrong.push(`${place}: ${fault}`)
    }
    const media = (place: string, content: Json) => {
      for (const { schema, example } of Object.values<Json>(content ?? {})) {
        if (example !== undefined) check(place, schema, example)
      }
    }
    for (const { id, operation, responses } of operationsOf(document)) {
      for (const { name, schema, example } of operation.parameters ?? []) {
        if (example !== undefined) check(`${id} ${name}`, schema, example)
      }
      media(id, operation.requestBody?.content)
      for (const [status, { content }] of Object.entries(responses)) media(`${id} ${status}`, content)
    }
    for (const [name, schema] of Object.entries<Json>(document.components.schemas)) {
      for (const example of schema.examples ?? []) check(name, schema, example)
    }
  }
  t.same(wrong, [])
  t.ok(count > 100, `${count} examples`)
})

/** Sends the examples of all operations of a document, in its order, and returns the answers that are no success. */
async function refusals(own: FastifyInstance, document: Json, token: string): Promise<string[]> {
  const refused: string[] = []
  for (const operation of operationsOf(document)) {
    const { id, method, responses } = operation
    const { url: path, query, headers, body, mediaType } = exampleRequest(operation)
    const url = query === '' ? path : `${path}?${query}`
    const isForm = mediaType === 'application/x-www-form-urlencoded'
    const given = mediaType === undefined ? {} : { 'content-type': mediaType }
    // A document has no example of a file.
    const file = mediaType === 'multipart/form-data' ? upload() : undefined
    // It reads a request of the app.
    if (id === 'getRequest') await call(own, 'GET', '/api/v1/mandates')
    const answer = await call(own, method, url, {
      headers: { authorization: `Bearer ${token}`, ...headers, ...given, ...file?.headers },
      ...(body !== undefined && { body: isForm ? new URLSearchParams(body).toString() : body }),
      ...(file !== undefined && { body: file.body }),
    })
    const success = Object.keys(responses).find(status => status.startsWith('2'))
    if (String(answer.status) !== success) refused.push(`${id} ${url}: ${answer.status} ${JSON.stringify(answer.body)}`)
    // The page /docs makes a body from its schema where there is no example: empty texts, which are refused.
    const [media] = Object.values<Json>(operation.operation.requestBody?.content ?? {})
    const needsBody = Object.keys((media && resolve(document, media.schema).properties) ?? {}).length > 0
    if (needsBody && body === undefined && file === undefined) refused.push(`${id} has no example of its body`)
  }
  return refused
}

/** A Friday after 16:00; the day before closed days; a leap day; a night in which the clock changes, in a far year. */
const MOMENTS = ['2026-11-06T15:30:00Z', '2026-12-24T14:59:30Z', '2028-02-29T07:50:00Z', '2041-03-31T00:50:00Z']

t.test('fidelity, Documented and assumed: the examples succeed in their order, at any date', async t => {
  for (const [index, at] of MOMENTS.entries()) {
    const clock = index % 2 === 0 ? 'real' : at
    const own = build(t, { clock, now: () => Date.parse(at) })
    const credentials = { client_id: 'sandbox-client', client_secret: 'sandbox-secret' }
    const token = (await requestToken(own, credentials)).body.access_token
    const [service, control] = await Promise.all(
      Object.keys(DOCUMENTS).map(async path => (await call(own, 'GET', path)).body),
    )
    t.same(await refusals(own, service, token), [], `${at} ${clock}: the service`)
    t.same(await refusals(own, control, token), [], `${at} ${clock}: the control plane`)
  }
})

t.test('fidelity, Documented and assumed: a document of later has new references and dates', async t => {
  let now = Date.parse(MONDAY)
  const own = build(t, { clock: 'real', now: () => now })
  const credentials = { client_id: 'sandbox-client', client_secret: 'sandbox-secret' }
  const create = async () => {
    const authorization = `Bearer ${(await requestToken(own, credentials)).body.access_token}`
    const document = (await call(own, 'GET', '/openapi.json')).body
    const [operation] = operationsOf(document).filter(({ id }) => id === 'createCollection')
    const { url, headers, body } = exampleRequest(operation as Operation)
    t.equal((await call(own, 'POST', url, { headers: { authorization, ...headers }, body })).status, 201)
    return body
  }
  const first = await create()
  const second = await create()
  t.not(second.collectionReference, first.collectionReference)
  now += 400 * 86_400_000
  const later = await create()
  t.ok(later.collectionDate > '2027-12-01', later.collectionDate)
})

t.test('fidelity, Documented and assumed: each call that ends something has a record of its own', async t => {
  const ENDING = /^(cancel|forceCancel|submit|process|settle|fail|reject|return|activate|expire|claim|decline|pay)[A-Z]/
  const found = operations
    .filter(({ id }) => ENDING.test(id))
    .flatMap(({ operation }) => (operation.parameters as Json[]).filter(({ in: place }) => place === 'path'))
    .map(({ example }) => example as string)
  const reads = operations.filter(({ method }) => method === 'GET').map(operation => exampleRequest(operation).url)
  // A link that is claimed is PROCESSING after seconds: the example of the one call prepares that of the other.
  t.equal(new Set(found).size, found.length - 1, found.join())
  const wrong = found.filter(reference => reads.some(url => url.endsWith(`/${reference}`)))
  t.same(wrong, [], 'no record that an example reads, or the guide names')
})

t.test('fidelity, Documented and assumed: the assets of /docs come from this server', async t => {
  const own = build(t)
  const page = await own.inject('/docs')
  t.match(page.headers['content-security-policy'], /frame-ancestors 'none'/)
  t.equal(page.statusCode, 200)
  t.match(page.headers['content-type'], 'text/html')
  t.match(page.headers['content-security-policy'], /^default-src 'none'; script-src 'self';/)
  const links = [...page.payload.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link as string)
  const wrong = links.filter(link => !/^\w[\w./-]*$|^#main$|^data:image/.test(link))
  t.same(wrong, [], 'nothing from elsewhere, and each is relative: a proxy may add a prefix')
  for (const link of links.filter(link => link.endsWith('.js'))) {
    const { statusCode, headers } = await own.inject(`/${link}`)
    t.equal(statusCode, 200, link)
    t.match(headers['content-type'], 'text/javascript')
  }
  t.match((await own.inject('/docs/scalar.js')).payload, /^\/\*! Scalar API Reference[\s\S]{0,100}MIT License/)
  const logged = (await call(own, 'GET', '/_sandbox/requests')).body.data
  t.same(logged, [])
})

t.test('fidelity, Documented and assumed: the documents of /docs say the labels in their descriptions', async t => {
  const { paths, components } = (await call(app, 'GET', '/docs/payments-service.json')).body
  const { CollectionListEnvelope, CollectionRequest } = components.schemas
  t.match(
    CollectionListEnvelope.properties.nextCursor.description,
    /null when `hasMore` is false\. \*\*Documented\.\*\*/,
  )
  t.match(CollectionRequest.properties.reasonCode.description, /\*\*Assumed\.\*\* The service shows no fields/)
  t.match(paths['/api/v1/payout-links'].post['x-badges'], [{ name: 'assumed' }])
  const control = (await call(app, 'GET', '/docs/control-plane.json')).body
  t.match(control.paths['/_sandbox/clock'].get.description, /\*\*Assumed\.\*\*$/m)
  t.match(CollectionRequest.properties.debtorName.description, /\*\*Documented\.\*\*/)
})

t.test('fidelity, Documented and assumed: each error code of /docs links to its entry in the console', async t => {
  const links = new Set<string>()
  const wrong: string[] = []
  for (const name of ['payments-service', 'control-plane']) {
    for (const { id, codes, operation } of operationsOf((await call(app, 'GET', `/docs/${name}.json`)).body)) {
      const found = [...operation.description.matchAll(/^- (\d+) \[`(\w+)`\]\((\S+)\): /gm)].map(
        ([, status, code, link]) => {
          links.add(link)
          return status === String(catalogue[code as ErrorCode].status) ? code : `${code} at ${status}`
        },
      )
      if (found.join() !== codes.join()) wrong.push(`${id}: ${found}`)
    }
  }
  t.same(wrong, [])
  t.notMatch(JSON.stringify(documents), /console\/errors/, 'the documents of programs have none')
  t.ok(links.size > 40)
  for (const link of links) {
    const { pathname } = new URL(link, 'https://sandbox.example/base/docs')
    t.match(pathname, /^\/base\/_sandbox\/console\/errors\/[A-Z_]+$/)
    t.equal((await app.inject(pathname.slice('/base'.length))).statusCode, 200, link)
  }
})
