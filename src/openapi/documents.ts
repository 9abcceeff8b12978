import type { ErrorCode } from '../core/errors.js'
import type { Eventually } from '../http/request-context.js'
import { ErrorBody } from '../http/schemas.js'
import { VERSION } from '../package.js'
import { createPublisher, createSharer, namesOf } from './components.js'
import type { Document, Named, Operation, Parameter, Response, Schema } from './document.js'
import { mapValues } from './document.js'
import { codesOf, errorResponses, exampleOf } from './errors.js'
import type { ExampleValues } from './examples.js'
import { withExamples } from './examples.js'
import { headers, headersOf } from './headers.js'
import { withVisibleLabels } from './labels.js'
import { linksOf } from './links.js'
import type { DocumentedRoute } from './routes.js'
import { isControl } from './routes.js'
import { toYaml } from './yaml.js'

export type Documents = ReturnType<typeof createDocuments>

const FORMS = {
  json: (document: Document) => JSON.stringify(document),
  labelled: (document: Document) => JSON.stringify(withVisibleLabels(document)),
  yaml: toYaml,
}

const contact = { name: 'The maintainers of the sandbox' }
const license = { name: 'MIT', identifier: 'MIT' }

const LABELS =
  '`x-fidelity` says of each operation, parameter, property, response, header and link whether the service documents it ' +
  '(`documented`) or the sandbox assumes it (`assumed`). All error codes are assumed. `x-fidelity-note` says what is ' +
  'assumed of a documented thing, or what the service has instead of an assumed one. `x-fidelity-constraints` names ' +
  'the assumed constraints of a documented field. `x-error-codes` lists the codes of an operation; operations share ' +
  'the responses of errors.'

const EXAMPLES =
  'Examples are for the records of the fixture `demo`. They are made when a sandbox serves the document: their dates ' +
  'follow the clock of `sandbox-client`, and their references are new. These were made at {{now}}; a file keeps them.'

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
  const make = {
    service() {
      const ofService = routes.filter(route => !isControl(route))
      return build(ofService, { ...service, servers, tags })
    },
    control() {
      const ofControl = routes.filter(isControl)
      return build(ofControl, { ...control, servers, tags: tagsOf(ofControl) })
    },
  }
  return {
    /**
     * Returns the text of a document, with examples that work now. Rejects with SERVICE_UNAVAILABLE.
     * @param name service: the emulated service. control: the control plane.
     * @param form labelled: as JSON, with the labels in the descriptions
     * @param publicUrl the absolute URL of the server: importers and generators make it the base of their requests
     */
    async render(name: 'service' | 'control', form: keyof typeof FORMS, publicUrl: string): Promise<string> {
      const key = `${name} ${form}`
      const text = texts.get(key) ?? FORMS[form](make[name]())
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
  const parameters: Named<Parameter> = {}
  const examples: Named<object> = {}
  const publish = createPublisher(schemas)
  const all = [...new Set(routes.flatMap(codesOf))]

  const operations = routes.map(operationOf)
  const ofParameters = operations.flatMap(({ parameters }) =>
    parameters.map(one => [one, namesOf.parameters(one)] as const),
  )
  const ofResponses = operations.flatMap(({ responses }) =>
    Object.entries(responses).map(([status, one]) => [one, namesOf.responses(one, status)] as const),
  )
  const shareParameter = createSharer('parameters', ofParameters, parameters)
  const shareResponse = createSharer('responses', ofResponses, responses)
  const paths: Named<Named<Operation>> = {}
  for (const { url, method, parameters, responses, ...operation } of operations) {
    const path = url.replace(/:(\w+)/g, '{$1}')
    const shared = {
      ...operation,
      ...(parameters.length > 0 && { parameters: parameters.map(one => shareParameter(one, namesOf.parameters(one))) }),
      responses: mapValues(responses, (one, status) => shareResponse(one, namesOf.responses(one, status))),
    }
    paths[path] = { ...paths[path], [method.toLowerCase()]: shared }
  }
  const text = JSON.stringify([paths, responses])
  const used = Object.entries(headers).filter(([name]) => text.includes(`"#/components/headers/${name}"`))
  const ofBase = { schemas, responses, parameters, examples, headers: Object.fromEntries(used) }
  return { ...base, components: { ...base.components, ...ofBase }, paths }

  function operationOf(route: DocumentedRoute) {
    const { params, querystring, headers, body, response, hide, ...described } = route.schema
    const { 'x-example': given = {}, ...shown } = described
    const form = route.config.form ?? body
    return {
      url: route.url,
      method: route.method,
      ...shown,
      'x-error-codes': codesOf(route),
      parameters: [
        ...parametersOf('query', given, querystring),
        ...parametersOf('path', given, params),
        ...parametersOf('header', given, headers),
      ],
      ...(form !== undefined && { requestBody: requestBodyOf(form, route.config.consumes) }),
      responses: responsesOf(route, response),
    }
  }

  function parametersOf(place: string, given: Readonly<Named<string>>, schema: Schema = {}): Parameter[] {
    const { properties = {}, required = [] } = schema
    return Object.entries(properties).map(([name, { examples, ...value }]) => {
      const isRequired = required.includes(name)
      // /docs would send the example of an optional parameter, and filter by it.
      const example = given[name] ?? (isRequired || place !== 'query' ? examples?.[0] : undefined)
      const { description, 'x-fidelity': fidelity, 'x-fidelity-note': note, ...schema } = publish(value, 'parameter')
      return {
        in: place,
        name,
        ...(isRequired && { required: true }),
        description,
        schema,
        ...(example !== undefined && { example }),
        'x-fidelity': fidelity,
        ...(note !== undefined && { 'x-fidelity-note': note }),
      }
    })
  }

  function requestBodyOf(body: Schema, type = 'application/json') {
    const { required = [], description, anyOf } = body
    return {
      ...(description !== undefined && { description }),
      // Without required members, the body itself is optional (decisions §1).
      required: required.length > 0 || anyOf !== undefined,
      content: { [type]: mediaOf(body) },
    }
  }

  function mediaOf({ examples, ...schema }: Schema) {
    return { schema: publish(schema, 'body'), ...(examples !== undefined && { example: examples[0] }) }
  }

  function responsesOf(route: DocumentedRoute, ofRoute: typeof route.schema.response): Named<Response> {
    const { '4xx': errors = {}, '5xx': _, ...ofSuccess } = ofRoute
    const own = mapValues(ofSuccess, schema => {
      const content = schema.content ?? { 'application/json': { schema } }
      return {
        description: schema.description ?? 'Success.',
        ...(schema.type !== 'null' && { content: mapValues(content, ({ schema }) => mediaOf(schema)) }),
        ...labelOf(schema),
      }
    })
    const envelope = publish(errors, 'body')
    const isCommon = envelope.$ref === publish(ErrorBody, 'body').$ref
    const share = (code: ErrorCode) => {
      // Token errors have two members more, which only their area can fill in.
      if (!isCommon) return undefined
      examples[code] = exampleOf(code)
      return { $ref: `#/components/examples/${code}` }
    }
    const codes = isCommon ? all : codesOf(route)
    const ofErrors = errorResponses(route, codes, envelope, labelOfOthers(route, errors), share)
    const sorted = Object.entries<Response>({ ...own, ...ofErrors }).sort(([a], [b]) => (a < b ? -1 : 1))
    return Object.fromEntries(
      sorted.map(([status, { description, ...rest }]) => [
        status,
        { description, headers: headersOf(route, status, routes), ...rest, ...linksOf(route, status, routes) },
      ]),
    )
  }
}

/** Returns a note that names the members of an envelope which the service does not document. */
function noteOnEnvelope({ properties = {} }: Schema): Response {
  const assumed = Object.entries(properties)
    .filter(([, property]) => property['x-fidelity'] === 'assumed')
    .map(([name]) => `\`${name}\``)
  if (assumed.length === 0) return {}
  return { 'x-fidelity-note': `The service documents the envelope. ${assumed.join(' and ')} are assumed.` }
}

/** Labels the response of all statuses that are not listed. */
const labelOfOthers = (route: DocumentedRoute, schema: Schema): Response =>
  isControl(route) ? { 'x-fidelity': 'assumed' } : { 'x-fidelity': 'documented', ...noteOnEnvelope(schema) }

/** Labels the response of a status. */
const labelOf = (schema: Schema): Response =>
  schema['x-fidelity'] === 'documented'
    ? { 'x-fidelity': 'documented', 'x-fidelity-note': 'The content is documented, the status is assumed.' }
    : { 'x-fidelity': 'assumed' }
