import type { TObject, TSchema } from '@sinclair/typebox'
import fastify from 'fastify'
import { billLifecycle } from '../areas/bills/lifecycle.js'
import { collectionLifecycle } from '../areas/direct-debit/lifecycle.js'
import type { Area } from '../areas/index.js'
import { areas } from '../areas/index.js'
import { mandateLifecycle } from '../areas/mandates/lifecycle.js'
import { oauthRoutes } from '../areas/oauth/routes.js'
import { payoutLinkLifecycle } from '../areas/payout-links/lifecycle.js'
import type { Lifecycle } from '../core/records/state-machine.js'
import { codesOf } from '../openapi/errors.js'
import type { DocumentedRoute } from '../openapi/routes.js'
import { collectRoutes } from '../openapi/routes.js'

/** A kind of records, as rules need it. */
export interface Kind {
  /** The path of its operations below `/api/v1`. */
  readonly path: string
  /** The member that identifies a record. */
  readonly reference: string
  /** The member with the time of its creation. */
  readonly created?: string
  readonly lifecycle?: Lifecycle
}

const KINDS: readonly Kind[] = [
  { path: 'mandates', reference: 'mandateReference', created: 'createdAt', lifecycle: mandateLifecycle },
  {
    path: 'direct-debit',
    reference: 'collectionReference',
    created: 'initiatedAt',
    lifecycle: collectionLifecycle,
  },
  { path: 'payout-links', reference: 'payoutLinkId', created: 'createdAt', lifecycle: payoutLinkLifecycle },
  { path: 'bills', reference: 'uniqueReferenceIdentifier', created: 'createdAt', lifecycle: billLifecycle },
  { path: 'counterparties', reference: 'counterpartyReference' },
  { path: 'accounts', reference: 'accountReference' },
]

/** An operation of the service, with all that the code says of it. */
export interface Operation {
  /** Such as `getMandate`. */
  readonly id: string
  readonly method: string
  /** Such as `/api/v1/mandates/{mandateReference}`. */
  readonly path: string
  /** Undefined: the token endpoint. */
  readonly kind: Kind | undefined
  readonly params: TObject | undefined
  readonly query: TObject | undefined
  readonly body: TObject | undefined
  /** The values of x-region; undefined: it takes none. */
  readonly region: TSchema | undefined
  /** The status of success, and the schema of its content. */
  readonly status: number
  readonly answer: TSchema
  readonly codes: ReadonlySet<string>
}

/** The operations of the service. */
export interface Contract {
  readonly operations: readonly Operation[]
  /** Finds the operation of a path that begins with `/api/v1`, with the values of its parameters. */
  find(method: string, path: string): { operation: Operation; params: Readonly<Record<string, string>> } | undefined
  /** Lists the methods of a path. */
  methodsOf(path: string): readonly string[]
}

let contract: Promise<Contract> | undefined

/** Returns the operations of the service. They are collected once, from the routes: nothing listens, and no route runs. */
export function loadContract(): Promise<Contract> {
  contract ??= collect()
  return contract
}

async function collect(): Promise<Contract> {
  const app = fastify()
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => () => '')
  const routes = collectRoutes(app)
  app.register(oauthRoutes, { prefix: '/api/v1/oauth' })
  for (const { path, routes } of Object.values<Area>(areas)) app.register(routes, { prefix: `/api/v1/${path}` })
  await app.ready()
  const operations = routes.map(operationOf)
  const found = operations.map(operation => ({ operation, pattern: patternOf(operation) }))
  await app.close()
  const matching = (path: string) => found.filter(({ pattern }) => pattern.test(path))
  return {
    operations,
    find(method, path) {
      // HEAD is part of GET.
      const match = matching(path).find(({ operation }) => operation.method === (method === 'HEAD' ? 'GET' : method))
      return match && { operation: match.operation, params: { ...match.pattern.exec(path)?.groups } }
    },
    methodsOf: path => matching(path).map(({ operation }) => operation.method),
  }
}

function operationOf(route: DocumentedRoute): Operation {
  const { params, querystring, headers, body, response, operationId } = route.schema
  const [[status, answer]] = Object.entries(response as Record<string, TSchema>) as [[string, TSchema]]
  const path = route.url.replace(/:(\w+)/g, '{$1}')
  return {
    id: operationId as string,
    method: route.method,
    path,
    kind: KINDS.find(kind => path.split('/')[3] === kind.path),
    params: params as TObject | undefined,
    query: querystring as TObject | undefined,
    body: body as TObject | undefined,
    region: (headers as TObject | undefined)?.properties['x-region'],
    status: Number(status),
    answer,
    codes: new Set(codesOf(route)),
  }
}

const patternOf = ({ path }: Operation) => new RegExp(`^${path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`)

/** Whether an operation answers a list. */
export const isList = ({ answer }: Operation): boolean => answer.properties?.data !== undefined

/** Returns the schema of the records of an operation. */
export const recordSchemaOf = (operation: Operation): TSchema =>
  isList(operation) ? operation.answer.properties.data.items : operation.answer
