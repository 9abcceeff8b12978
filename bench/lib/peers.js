import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BENCH } from './machine.js'
import { launchPeer, TEMPORARY } from './servers.js'

/**
 * An operation as both peers are told of it.
 * @typedef {object} Sample
 * @property {string} method
 * @property {string} route the path with parameters in braces
 * @property {number} status
 * @property {string} body what the sandbox answered, so that answers are of the same size
 * @property {object} [request] JSON schema of the body
 * @property {string} [consumes] media type of the body
 */

const program = (...path) => join(BENCH, 'node_modules', ...path)

/** Prism with its defaults, one process. @param {readonly Sample[]} samples */
export function launchPrism(samples) {
  const file = join(TEMPORARY, 'openapi.json')
  writeFileSync(file, JSON.stringify(openapiOf(samples)))
  return launchPeer(port => [
    program('@stoplight/prism-cli/dist/index.js'),
    'mock',
    file,
    '-p',
    String(port),
    '--multiprocess',
    'false',
  ])
}

/** The interface as one would write it down for a mock: what requests need, and an example of each answer. */
function openapiOf(samples) {
  const paths = {}
  for (const { method, route, status, body, request, consumes = 'application/json' } of samples) {
    const names = [...route.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    const needsToken = !route.endsWith('/token')
    paths[route] ??= {}
    paths[route][method.toLowerCase()] = {
      ...(needsToken && { security: [{ bearer: [] }] }),
      parameters: [
        ...names.map(name => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
        ...(needsToken
          ? [{ name: 'x-region', in: 'header', required: true, schema: { type: 'string', enum: ['EU'] } }]
          : []),
      ],
      ...(request !== undefined && { requestBody: { required: true, content: { [consumes]: { schema: request } } } }),
      responses: {
        [status]: {
          description: 'as the sandbox answers',
          ...(body !== '' && {
            content: { 'application/json': { schema: { type: 'object' }, example: JSON.parse(body) } },
          }),
        },
      },
    }
  }
  return {
    openapi: '3.0.3',
    info: { title: 'Payments', version: '1' },
    paths,
    components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
  }
}

/**
 * Mockoon with its defaults, but for what its own image changes too: no log file. Bodies are sent as they stand.
 * @param {readonly Sample[]} samples
 */
export function launchMockoon(samples) {
  const file = join(TEMPORARY, 'mockoon.json')
  writeFileSync(file, JSON.stringify(mockoonOf(samples)))
  return launchPeer(port => [
    program('@mockoon/cli/bin/run.js'),
    'start',
    '--data',
    file,
    '--port',
    String(port),
    '--disable-log-to-file',
  ])
}

const uuid = number => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`

function mockoonOf(samples) {
  const routes = samples.map(({ method, route, status, body }, at) => ({
    uuid: uuid(100 + at),
    type: 'http',
    documentation: '',
    method: method.toLowerCase(),
    endpoint: route.slice(1).replaceAll(/\{(\w+)\}/g, ':$1'),
    responses: [
      {
        uuid: uuid(200 + at),
        body,
        latency: 0,
        statusCode: status,
        label: '',
        headers: [{ key: 'content-type', value: 'application/json; charset=utf-8' }],
        bodyType: 'INLINE',
        filePath: '',
        databucketID: '',
        sendFileAsBody: false,
        rules: [],
        rulesOperator: 'OR',
        disableTemplating: true,
        fallbackTo404: false,
        default: true,
        crudKey: 'id',
        callbacks: [],
      },
    ],
    responseMode: null,
    streamingMode: null,
    streamingInterval: 0,
  }))
  return {
    uuid: uuid(1),
    lastMigration: 33,
    name: 'Payments',
    endpointPrefix: '',
    latency: 0,
    port: 3000,
    hostname: '127.0.0.1',
    folders: [],
    routes,
    rootChildren: routes.map(({ uuid }) => ({ type: 'route', uuid })),
    proxyMode: false,
    proxyHost: '',
    proxyRemovePrefix: false,
    tlsOptions: { enabled: false, type: 'CERT', pfxPath: '', certPath: '', keyPath: '', caPath: '', passphrase: '' },
    cors: true,
    headers: [],
    proxyReqHeaders: [],
    proxyResHeaders: [],
    data: [],
    callbacks: [],
  }
}
