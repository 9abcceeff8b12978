import { ErrorBody } from '../http/schemas.js'
import { VERSION } from '../package.js'
import { createPublisher, mapValues, shareResponses } from './components.js'
import { errorResponses } from './errors.js'
import { headers, headersOf } from './headers.js'
import type { DocumentedRoute, Json } from './routes.js'
import { isControl } from './routes.js'

/** The two OpenAPI documents. Each is made on first use. */
export interface Documents {
  /** The emulated service. */
  service(): Promise<Json>
  /** The control plane. */
  control(): Promise<Json>
}

const CONTROL_NOTE = 'Exists only in the sandbox.'

const contact = { name: 'The maintainers of the sandbox' }
const license = { name: 'MIT', identifier: 'MIT' }

const LABELS =
  '`x-fidelity` says of each operation, parameter, property, response and error code whether the service documents it ' +
  '(`documented`) or the sandbox assumes it (`assumed`). `x-fidelity-constraints` names the assumed constraints of a ' +
  'documented field.'

/** A tag of the document: an area of the service. */
export interface Tag {
  readonly name: string
  readonly 'x-displayName': string
  readonly description: string
}

const service = {
  openapi: '3.1.0',
  info: {
    title: 'Payments service, as the sandbox emulates it',
    version: '1.1.0',
    description: `The interface of release v1.1.0.\n\n${LABELS}\n\nA fault of the control plane can answer any status from 400 to 599 with any code.`,
    contact,
    license,
  },
  security: [{ bearerAuth: [] }],
  components: {
    securitySchemes: {
      bearerAuth: {
        type: 'http',
        scheme: 'bearer',
        description: 'The `access_token` of `POST /api/v1/oauth/token`.',
        'x-fidelity': 'documented',
      },
    },
  },
} as const

const control = {
  openapi: '3.1.0',
  info: {
    title: 'Payments sandbox: control plane',
    version: VERSION,
    description: [
      'Time, faults, state and evidence of a sandbox. Each call acts on the tenant `client`.',
      'Unknown members and query parameters are refused with 400.',
      `\n\n${LABELS}`,
    ].join(' '),
    contact,
    license,
  },
  security: [{}, { adminToken: [] }],
  components: {
    securitySchemes: {
      adminToken: {
        type: 'http',
        scheme: 'bearer',
        description: 'The value of SANDBOX_ADMIN_TOKEN, where it is set.',
        'x-fidelity': 'assumed',
        'x-fidelity-note': CONTROL_NOTE,
      },
    },
  },
} as const

/**
 * @param routes the routes of the server, complete when the first document is made
 * @param tags the tags of the service
 * @param publicUrl returns the absolute URL of the server: importers and generators make it the base of their requests
 */
export function createDocuments(
  routes: readonly DocumentedRoute[],
  tags: readonly Tag[],
  publicUrl: () => string,
): Documents {
  let serviceDocument: Promise<Json> | undefined
  let controlDocument: Promise<Json> | undefined
  const servers = () => [
    { url: publicUrl(), description: 'The sandbox by its public URL' },
    { url: '/', description: 'The sandbox that serves this document' },
  ]
  return {
    service() {
      serviceDocument ??= build(
        routes.filter(route => !isControl(route)),
        { ...service, servers: servers(), tags },
      )
      return serviceDocument
    },
    control() {
      const ofControl = routes.filter(isControl)
      controlDocument ??= build(ofControl, { ...control, servers: servers(), tags: tagsOf(ofControl) })
      return controlDocument
    },
  }
}

/** A call of the control plane has the first segment of its path as its tag. */
const tagsOf = (routes: readonly DocumentedRoute[]) =>
  [...new Set(routes.flatMap(({ schema }) => schema.tags ?? []))].map(name => ({
    name,
    description: name === 'overview' ? 'The sandbox as a whole.' : `Calls below \`/_sandbox/${name}\`.`,
  }))

/**
 * Converts routes by @fastify/swagger, in an instance of its own: the start of the server and its requests stay free of
 * it. The schemas are the very ones that validate. https://github.com/fastify/fastify-swagger
 */
async function build(routes: readonly DocumentedRoute[], base: Json): Promise<Json> {
  const [{ default: fastify }, { default: swagger }] = await Promise.all([
    import('fastify'),
    import('@fastify/swagger'),
  ])
  const app = fastify()
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => JSON.stringify)
  await app.register(swagger, { openapi: base, convertConstToEnum: false })
  for (const { method, url, schema, config } of routes) {
    const { consumes, form } = config
    app.route({
      method,
      url,
      schema: {
        ...schema,
        ...(consumes !== undefined && { consumes: [consumes] }),
        ...(form !== undefined && { body: form }),
      },
      handler: () => null,
    })
  }
  await app.ready()
  const document = app.swagger() as unknown as Json
  await app.close()
  return complete(document, routes)
}

/** Adds labels, error codes, response headers and components, which the conversion leaves out. */
function complete(document: Json, routes: readonly DocumentedRoute[]): Json {
  const schemas: Record<string, Json> = {}
  const responses: Record<string, Json> = {}
  const publish = createPublisher(schemas)
  const paths = document.paths as Record<string, Record<string, Json>>

  const operations = routes.map(route => {
    const path = route.url.replace(/:(\w+)/g, '{$1}')
    const operation = paths[path]?.[route.method.toLowerCase()] as Json
    delete operation['x-error-codes']
    if (isControl(route)) operation['x-fidelity-note'] = CONTROL_NOTE
    for (const parameter of (operation.parameters ?? []) as Json[]) {
      const {
        description,
        'x-fidelity': fidelity,
        'x-fidelity-note': note,
        ...published
      } = publish({ ...(parameter.schema as Json), description: parameter.description }, 'parameter')
      Object.assign(parameter, { description, schema: published, 'x-fidelity': fidelity })
      if (note !== undefined) parameter['x-fidelity-note'] = note
    }
    const { requestBody } = operation as { requestBody?: Json }
    if (requestBody !== undefined) {
      publishContent(requestBody)
      const { required = [] } = (route.config.form ?? route.schema.body) as { required?: string[] }
      const { anyOf } = (route.schema.body ?? {}) as { anyOf?: unknown }
      // Without required members, the body itself is optional (decisions §1).
      requestBody.required = required.length > 0 || anyOf !== undefined
    }
    operation.responses = responsesOf(route, operation.responses as Record<string, Json>)
    return operation
  })
  shareResponses(operations, responses)
  const text = JSON.stringify([paths, responses])
  const used = Object.entries(headers).filter(([name]) => text.includes(`"#/components/headers/${name}"`))
  const components = { ...(document.components as Json), schemas, responses, headers: Object.fromEntries(used) }
  return { ...document, components }

  function publishContent({ content }: Json): void {
    for (const media of Object.values((content ?? {}) as Record<string, Json>)) {
      media.schema = publish(media.schema as Json, 'body')
    }
  }

  function responsesOf(route: DocumentedRoute, converted: Record<string, Json>): Record<string, Json> {
    const own = mapValues(converted, response => ({ ...response }))
    for (const [status, response] of Object.entries(own)) {
      publishContent(response)
      const ofRoute = route.schema.response as Record<string, Json>
      const isRange = /^[45]XX$/.test(status)
      const isDocumented = ofRoute[status.toLowerCase()]?.['x-fidelity'] === 'documented'
      response.description = isRange
        ? `Any other ${status.toLowerCase()} answer.`
        : (ofRoute[status]?.description ?? 'Success.')
      if (isRange && !isControl(route)) {
        response['x-fidelity'] = 'documented'
      } else if (isDocumented) {
        response['x-fidelity'] = 'documented'
        response['x-fidelity-note'] = 'The content is documented, the status is assumed.'
      } else {
        response['x-fidelity'] = 'assumed'
        response['x-fidelity-note'] = isControl(route)
          ? CONTROL_NOTE
          : 'The service documents neither the status nor the content as a whole.'
      }
    }
    const envelope = publish((route.schema.response as Record<string, Json>)['4xx'] as Json, 'body')
    const all = { ...own, ...errorResponses(route, envelope, publish(ErrorBody, 'body')) }
    return Object.fromEntries(
      Object.entries(all)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([status, response]) => {
          const { description, ...rest } = response
          return [status, { description, headers: headersOf(route, status), ...rest }]
        }),
    )
  }
}
