import type { Contract, Operation } from '../contract.js'
import { isList } from '../contract.js'
import { OTHER_PATHS } from '../observations.js'
import type { Guard, Rule } from '../rule.js'
import { rulesOf as rulesOfGuard } from '../rule.js'
import { areaGuards, areaRules } from './areas.js'
import { collectionGuards, collectionRules } from './collections.js'
import { generalGuards, generalRules, statusRule } from './general.js'
import { filterRules, listRules } from './lists.js'
import { memberRules } from './members.js'
import { recordGuards, recordRules } from './records.js'
import { tokenGuards, tokenRules } from './tokens.js'

/** The rules of an operation, or of the paths that are none. */
export interface Rules {
  /** Such as `GET /api/v1/mandates`, or `other paths`. */
  readonly name: string
  readonly guards: readonly Guard[]
  readonly rules: readonly Rule[]
}

/** Rules that only some operations can show, by the start of their ids. */
const isPossible = (
  { id }: { readonly id: string },
  { id: operationId, method, params, query, body, status }: Operation,
): boolean => {
  if (id === 'HEAD') return method === 'GET'
  if (id === 'JSON') return status !== 204
  if (id === 'Accept-Patch') return method === 'PATCH'
  if (id === 'absent body' || id === 'body that is no object' || id === 'large body') return body !== undefined
  if (id === 'repeated parameter' || id === 'empty parameter') return query !== undefined
  // The service documents the token of these two.
  if (id === 'request without a token') return operationId !== 'listCollections' && operationId !== 'cancelPayoutLink'
  const needsToken = /token$|^Bearer$|^challenge /.test(id)
  return !needsToken || params !== undefined || body === undefined || !('client_id' in body.properties)
}

/** Lists the rules of all operations, by their ids, and last those of other paths. */
export function rulesOf({ operations }: Contract): ReadonlyMap<string, Rules> {
  const all = operations.map((operation): [string, Rules] => {
    const { id, method, path } = operation
    const isOwn = (of: { readonly id: string; readonly operations: readonly string[] | undefined }) =>
      of.operations?.includes(id) ?? isPossible(of, operation)
    const guards = [
      ...generalGuards,
      ...tokenGuards,
      ...recordGuards(operation),
      ...collectionGuards,
      ...areaGuards,
    ].filter(isOwn)
    const rules = [
      statusRule(operation),
      ...memberRules(operation),
      ...(isList(operation) ? filterRules(operation) : []),
      ...recordRules(operation),
      ...[...generalRules, ...tokenRules, ...listRules, ...collectionRules, ...areaRules].filter(isOwn),
      ...guards.flatMap(rulesOfGuard),
    ]
    return [id, { name: `${method} ${path}`, guards, rules }]
  })
  const ofPaths = generalRules.filter(({ operations }) => operations?.includes(OTHER_PATHS))
  return new Map([...all, [OTHER_PATHS, { name: OTHER_PATHS, guards: [], rules: ofPaths }]])
}
