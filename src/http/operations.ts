import type { TObject, TString } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Operation } from '../core/operations.js'
import type { PathParameter } from '../core/rules/glob.js'
import { regionsOf } from './region.js'

const API = '/api/'

/** Returns the name of an operation, such as `GET /api/v1/mandates/{mandateReference}`. */
export const nameOf = (method: string, url: string) => `${method} ${url.replace(/:(\w+)/g, '{$1}')}`

/** Collects the operations of the API as their routes are added. */
export function collectOperations(app: FastifyInstance): readonly Operation[] {
  const operations: Operation[] = []
  app.addHook('onRoute', ({ url, method, schema }) => {
    if (!url.startsWith(API) || method === 'HEAD') return
    const operation = nameOf(method as string, url)
    operations.push({
      operation,
      method: method as string,
      path: operation.slice(operation.indexOf(' ') + 1),
      parameter: parameterOf(schema),
      regions: regionsOf(schema),
    })
  })
  return operations
}

/** Longer than the value of any path parameter. */
const TOO_LONG = 256

/** Describes the values of a route's path parameter: its schema bounds length and characters, and nothing else. */
function parameterOf(schema: object | undefined): PathParameter | undefined {
  const [value] = Object.values((schema as { params?: TObject } | undefined)?.params?.properties ?? {}) as TString[]
  if (value === undefined) return undefined
  const pattern = new RegExp(value.pattern as string)
  const { minLength = 1, maxLength = TOO_LONG } = value
  const lengths = Array.from({ length: TOO_LONG }, (_, length) => length).filter(
    length => length >= minLength && length <= maxLength && pattern.test('0'.repeat(length)),
  )
  const least = lengths[0] as number
  return {
    least,
    most: lengths.at(-1) as number,
    allows: character => pattern.test(character.repeat(least)),
  }
}

/** Returns the operation of a request, as deprecations name it. HEAD is part of GET. */
export const operationOf = ({ method, routeOptions: { url = '' } }: FastifyRequest): string =>
  nameOf(method === 'HEAD' ? 'GET' : method, url)
