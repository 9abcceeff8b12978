import { STATUS_CODES } from 'node:http'
import type { Eventually } from '../http/request-context.js'
import { VERSION } from '../package.js'
import { createPublisher, shareIn } from './components.js'
import type { Document, Labelled, Named, Operation, Parameter, Response, Schema } from './document.js'
import { mapValues } from './document.js'
import { codesOf, errorStatusesOf, labelOfError } from './errors.js'
import type { ExampleValues } from './examples.js'
import { withExamples } from './examples.js'
import { headers, headersOf } from './headers.js'
import { withVisibleLabels } from './labels.js'
import { linksOf } from './links.js'
import type { DocumentedRoute } from './routes.js'
import { isControl } from './routes.js'

export type Documents = ReturnType<typeof createDocuments>

/** No line is folded, and no part refers to another one. */
const YAML = { lineWidth: 0, aliasDuplicateObjects: false }

const FORMS = {
  json: (document: Document) => JSON.stringify(document),
  labelled: (document: Document) => JSON.stringify(withVisibleLabels(document)),
  yaml: async (document: Document) => (await import('yaml')).default.stringify(document, YAML),
}

const contact = { name: 'The maintainers of the sandbox' }
const license = { name: 'MIT', identifier: 'MIT' }

const LABELS =
  '`x-fidelity` says of each operation, parameter, property, response, header and link whether the service documents it ' +
  '(`documented`) or the sandbox assumes it (`assumed`). All error codes are assumed. `x-fidelity-note` says what is ' +
  'assumed of a documented thing, or what the service has instead of an assumed one. `x-fidelity-constraints` names ' +
  'the assumed constraints of a documented field. `x-error-codes` lists the codes of an operation, and ' +
  '`GET /_sandbox/errors` their statuses and meanings.'

const EXAMPLES =
  'Examples are for the records of the fixture `demo`. They are made when a sandbox serves the document: their dates ' +
  'follow the clock of `sandbox-client`, and their references are new. These were made at {{now}}; a file keeps them.'

/** The document of the emulated service, or of the control plane. */
export type DocumentName = 'service' | 'control'

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
    description: `The interface of release v1.1.0.\n\n${LABELS}\n\n${EXAMPLES}\n\nA fault of the control plane can answer any status from 400 to 599 with any code.`,
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
        'x-fidelity-note':
          'The service states it for the list of collection requests and the cancellation of a payout link. For the other ' +
          'operations it is assumed.',
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
      'Time, faults, state and evidence of a sandbox. It exists only in the sandbox. Each call acts on the tenant `client`.',
      'Unknown members and query parameters are refused with 400.',
      `\n\n${LABELS}\n\n${EXAMPLES}`,
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
        description:
          'The value of SANDBOX_ADMIN_TOKEN, where it is set. It is also taken as the password of HTTP Basic, with any user name.',
        'x-fidelity': 'assumed',
      },
    },
  },
} as const

/** The placeholder of the address of the server, which the host of the request can determine. */
const PUBLIC_URL = '{{public-url}}'

/**
 * Creates the two OpenAPI documents.
 * @param routes the routes of the server, complete when the first document is made
 * @param tags the tags of the service
 * @param examples returns the values of examples for the present moment
 */
export function createDocuments(
  routes: readonly DocumentedRoute[],
  tags: readonly Tag[],
  examples: () => Eventually<ExampleValues>,
) {
  /** The texts with placeholders, by name and form. Each is made on first use. */
  const texts = new Map<string, string>()
  const servers = [
    { url: PUBLIC_URL, description: 'The sandbox by its public URL' },
    { url: '/', description: 'The sandbox that serves this document' },
  ]
  function make(name: DocumentName): Document {
    const own = routes.filter(route => isControl(route) === (name === 'control'))
    return name === 'control'
      ? build(own, { ...control, servers, tags: tagsOf(own) })
      : build(own, { ...service, servers, tags })
  }
  return {
    /**
     * Returns the text of a document, with examples that work now. Rejects with SERVICE_UNAVAILABLE.
     * @param form labelled: as JSON, with the labels in the descriptions
     * @param publicUrl the absolute URL of the server: importers and generators make it the base of their requests
     */
    async render(name: DocumentName, form: keyof typeof FORMS, publicUrl: string): Promise<string> {
      const key = `${name} ${form}`
      const text = texts.get(key) ?? (await FORMS[form](make(name)))
      texts.set(key, text)
      const values = await examples()
      return withExamples(text, placeholder => (placeholder === PUBLIC_URL ? publicUrl : values(placeholder)))
    },
  }
}

/** A call of the control plane has the first segment of its path as its tag. */
const tagsOf = (routes: readonly DocumentedRoute[]) =>
  [...new Set(routes.flatMap(({ schema }) => schema.tags ?? []))].map(name => ({
    name,
    description: name === 'overview' ? 'The sandbox as a whole.' : `Calls below \`/_sandbox/${name}\`.`,
  }))

/** Makes a document of some routes. Its schemas are the very ones that validate. */
function build<T extends typeof service | typeof control>(routes: readonly DocumentedRoute[], base: T & object) {
  const schemas: Named<Schema> = {}
  const responses: Named<Response> = {}
  const publish = createPublisher(schemas)
  const paths: Named<Named<Operation>> = {}
  for (const route of routes) {
    const path = route.url.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) }
  }
  const text = JSON.stringify([paths, responses])
  const used = Object.entries(headers).filter(([name]) => text.includes(`"#/components/headers/${name}"`))
  return { ...base, components: { ...base.components, schemas, responses, headers: Object.fromEntries(used) }, paths }

  function operationOf(route: DocumentedRoute): Operation {
    const { params, querystring, headers, body, response, hide, 'x-example': example, ...described } = route.schema
    const form = route.config.form ?? body
    return {
      ...described,
      'x-error-codes': codesOf(route),
      parameters: [
        ...parametersOf('query', querystring, example),
        ...parametersOf('path', params, example),
        ...parametersOf('header', headers, example),
      ],
      requestBody: form && requestBodyOf(form, route.config.consumes),
      responses: responsesOf(route, response),
    }
  }

  function parametersOf(place: string, { properties = {}, required = [] }: Schema = {}, given: Named<string> = {}) {
    return Object.entries(properties).map(([name, { examples, ...value }]): Parameter => {
      const isRequired = required.includes(name)
      const { description, 'x-fidelity': fidelity, 'x-fidelity-note': note, ...schema } = publish(value)
      return {
        in: place,
        name,
        required: isRequired || undefined,
        description,
        schema,
        // /docs would send the example of an optional parameter, and filter by it.
        example: given[name] ?? (isRequired || place !== 'query' ? examples?.[0] : undefined),
        'x-fidelity': fidelity,
        'x-fidelity-note': note,
      }
    })
  }

  function requestBodyOf(body: Schema, type = 'application/json') {
    const { required = [], description, anyOf } = body
    // Without required members, the body itself is optional (decisions §1).
    return { description, required: required.length > 0 || anyOf !== undefined, content: { [type]: mediaOf(body) } }
  }

  function mediaOf({ examples, ...schema }: Schema) {
    return { schema: publish(schema, true), example: examples?.[0] }
  }

  function responsesOf(route: DocumentedRoute, ofRoute: typeof route.schema.response): Named<Response> {
    const { '4xx': envelope = {}, '5xx': _, ...ofSuccess } = ofRoute
    const successes = mapValues(ofSuccess, ({ content, ...schema }, status) => ({
      description: schema.description ?? 'Success.',
      headers: headersOf(route, status, routes),
      content:
        schema.type === 'null'
          ? undefined
          : mapValues(content ?? { 'application/json': { schema } }, one => mediaOf(one.schema)),
      ...linksOf(route, status, routes),
      ...labelOf(schema),
    }))
    const failures = errorStatusesOf(route).map(status => {
      const phrase = STATUS_CODES[status]
      const answer: Response = {
        description: `${phrase ?? 'Any other error'}.`,
        headers: headersOf(route, status, routes),
        content: { 'application/json': { schema: publish(envelope, true) } },
        ...labelOfError(route, status, envelope),
      }
      return [status, shareIn(responses, 'responses', phrase?.replace(/\W/g, '') ?? 'Error', answer)] as const
    })
    return { ...successes, ...Object.fromEntries(failures) }
  }
}

/** Labels the response of a success. */
const labelOf = (schema: Schema): Labelled =>
  schema['x-fidelity'] === 'documented'
    ? { 'x-fidelity': 'documented', 'x-fidelity-note': 'The content is documented, the status is assumed.' }
    : { 'x-fidelity': 'assumed' }
