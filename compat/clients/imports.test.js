/** Imports the document into Postman and Bruno with their own converters, and sends the imported requests. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { openApiToBruno } from '@usebruno/converters'
import postman from 'openapi-to-postmanv2'
import { createSandbox } from '../../dist/client/index.js'

const TEXT = readFileSync(new URL('../../openapi/payments-service.json', import.meta.url), 'utf8')
const SERVER = 'http://127.0.0.1:8080'

const DOCUMENT = JSON.parse(TEXT)

/** The operations of the document, in the form of an imported request. `values` are the examples of the path. */
const operations = Object.entries(DOCUMENT.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, { summary, parameters = [], requestBody }]) => ({
    name: summary,
    method: method.toUpperCase(),
    path: path.replace(/\{(\w+)\}/g, ':$1'),
    values: parameters.filter(parameter => parameter.in === 'path').map(({ example }) => example),
    body: Object.values(requestBody?.content ?? {})[0]?.example,
  })),
)

/** Returns the requests in a folder of a collection. */
const requestsOf = ({ item, items = item, ...request }) => items?.flatMap(requestsOf) ?? [request]

/** Returns pairs as an object. */
const toObject = (pairs, name) => Object.fromEntries(pairs.map(pair => [pair[name], pair.value]))

/** Converts the document with the options of Postman's import: examples as parameters, and no optional parameters. */
async function importToPostman() {
  assert.deepEqual(postman.validate({ type: 'string', data: TEXT }), { result: true, specificationVersion: '3.1.x' })
  const options = { parametersResolution: 'Example', enableOptionalParameters: false }
  const { item, variable, auth } = await new Promise((resolve, reject) => {
    postman.convertV2({ type: 'string', data: TEXT }, options, (error, { result, reason, output } = {}) =>
      result ? resolve(output[0].data) : reject(error ?? new Error(reason)),
    )
  })
  assert.equal(auth.type, 'bearer')
  const requests = item.flatMap(requestsOf).map(({ request: { name, method, url, header, body } }) => ({
    name,
    method,
    path: `/${url.path.join('/')}`,
    values: url.variable.map(({ value }) => value),
    headers: toObject(header, 'key'),
    ...(body.mode === 'raw' && { body: JSON.parse(body.raw) }),
    // Postman leaves out what is disabled: the optional `scope`, whose value the converter makes up.
    ...(body.mode === 'urlencoded' && {
      body: toObject(
        body.urlencoded.filter(({ disabled }) => !disabled),
        'key',
      ),
    }),
  }))
  return { server: toObject(variable, 'key').baseUrl, requests }
}

/** Converts the document as Bruno does. */
function importToBruno() {
  const { items, environments, root } = openApiToBruno(JSON.parse(TEXT))
  assert.equal(root.request.auth.mode, 'bearer')
  const requests = items.flatMap(requestsOf).map(({ name, request: { method, url, params, headers, body } }) => ({
    name,
    method,
    path: url.replace('{{baseUrl}}', ''),
    values: params.filter(({ type }) => type === 'path').map(({ value }) => value),
    headers: {
      ...toObject(
        headers.filter(({ enabled }) => enabled),
        'name',
      ),
      // Bruno sends the type that belongs to the mode.
      ...(body.mode === 'json' && { 'content-type': 'application/json' }),
    },
    ...(body.mode === 'json' && { body: JSON.parse(body.json) }),
    ...(body.mode === 'formUrlEncoded' && { body: toObject(body.formUrlEncoded, 'name') }),
  }))
  return { server: toObject(environments[0].variables, 'name').baseUrl, requests }
}

let sandbox
before(async () => {
  sandbox = await createSandbox({ clock: '2026-11-02T09:00:00Z', fixture: 'demo' })
})
after(() => sandbox.close())

/** Sends an imported request as a new client with the demo records. Returns the status. */
async function send({ method, path, values, headers, body }) {
  const client = await sandbox.fork()
  const url = values.reduce((url, value) => url.replace(/:\w+/, value), path)
  const response = await fetch(sandbox.url + url, {
    method,
    headers: { authorization: `Bearer ${await client.token()}`, ...headers },
    ...(body && { body: isToken({ path }) ? new URLSearchParams(body) : JSON.stringify(body) }),
  })
  return response.status
}

const byName = (a, b) => (a.name < b.name ? -1 : 1)
const isToken = ({ path }) => path === '/api/v1/oauth/token'
const isUpload = ({ path }) => path.endsWith('/document')

for (const [name, load] of Object.entries({ Postman: importToPostman, Bruno: importToBruno })) {
  test(`${name}: imports every operation with its examples`, async () => {
    const { server, requests } = await load()
    assert.equal(server, SERVER)
    const imported = requests.map(({ headers: _headers, ...request }) => ({ body: undefined, ...request }))
    // The converter of Postman ignores the example of a form, and makes up the values. So only their names are compared.
    const comparable = request =>
      name === 'Postman' && isToken(request) ? { ...request, body: Object.keys(request.body).sort() } : request
    assert.deepEqual(imported.map(comparable).sort(byName), operations.map(comparable).sort(byName))
  })

  test(`${name}: sends the imported requests, and each succeeds`, async () => {
    const { requests } = await load()
    // An import has no file to upload.
    for (const request of requests.filter(request => !isUpload(request))) {
      const status = await send(request)
      assert.ok(status >= 200 && status < 300, `${status} for ${request.name}`)
    }
  })
}
