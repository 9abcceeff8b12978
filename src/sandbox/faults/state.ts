import type { Static } from '@sinclair/typebox'
import { atPath, errors } from '../../core/errors.js'
import { canMeet, createGlob } from '../../core/glob.js'
import type { TenantContext } from '../../core/tenant-context.js'
import { parseDuration } from '../../core/time/duration.js'
import { formatInstant } from '../../core/time/time.js'
import type { Operation } from '../../http/operations.js'
import { createArmedList } from '../armed/state.js'
import type { Delay, Effect } from './effect.js'
import type * as schemas from './schemas.js'
import { LONGEST_DELAY_MS } from './schemas.js'

export type { Delay, Effect }

/** The request that arms a fault. */
export type FaultRequest = Static<typeof schemas.FaultRequest>
/** A fault of a tenant, in any state. */
export type Fault = Static<typeof schemas.FaultSnapshot>
type FaultMatch = Fault['match']

declare module '../../http/request-context.js' {
  interface RequestContext {
    /** The faults that fired; null where none did. */
    faults: AppliedFaults | null
  }
}

/** The part of a request that faults match. */
export interface FaultTarget {
  readonly method: string
  /** As received, with valid percent-encoding. */
  readonly path: string
  /** Absent for the token request, which has no region and no bearer token. */
  readonly region: string | undefined
}

/** The faults that fired on one request: all matching delays, and the first matching fault of another kind. */
export interface AppliedFaults {
  /** In the order of arming. */
  readonly fired: readonly Fault[]
  /** The total delay in milliseconds, at most `LONGEST_DELAY_MS`. */
  readonly delay: number
  /** The effect beside the delay. */
  readonly effect: Exclude<Effect, { kind: 'delay' }> | null
  /** The first path of a patch that the answer lacks, absent if it has all. */
  missing?: string
}

/** Returns whether an effect leaves the client without an answer. */
export const isCutOff = ({ effect }: AppliedFaults): boolean =>
  effect?.kind === 'drop' || effect?.kind === 'reset' || effect?.kind === 'garbage'

export type Faults = ReturnType<typeof createFaults>

/** The most bytes of all faults as JSON, because a database writes all of them with each change. */
const MOST_BYTES = 1024 * 1024

/** @throws INVALID_FIELD */
function assertRoom(faults: readonly FaultRequest[]): void {
  if (Buffer.byteLength(JSON.stringify(faults)) <= MOST_BYTES) return
  throw errors.invalid(
    null,
    `All faults of a client are at most ${MOST_BYTES} bytes: remove some with DELETE /_sandbox/faults.`,
  )
}

/**
 * Creates the faults of one tenant, in the order of arming. Their random numbers are seeded, so a run can be repeated.
 * @param earlier the faults of a restored state
 * @throws MISSING_FIELD, INVALID_FIELD, DUPLICATE_REFERENCE (an invalid fault among them)
 */
export function createFaults(context: Pick<TenantContext, 'clock' | 'ids'>, earlier: readonly Fault[] = []) {
  const { clock, ids } = context
  const assertValid = ({ effect }: Fault) => assertValidEffect(effect)
  const faults = createArmedList(context, { name: 'fault', assertValid, notFound: errors.faultNotFound }, earlier)
  atPath('faults', () => assertRoom(earlier))
  const globs = new WeakMap<FaultMatch, (path: string) => boolean>()

  function stateOf({ times, fired, expiresAt }: Fault, realNow: number): Static<typeof schemas.Fault>['state'] {
    if (times !== null && fired >= times) return 'spent'
    return expiresAt !== undefined && realNow >= expiresAt ? 'expired' : 'armed'
  }

  /** Matches the decoded path, because all encodings of it lead to the same operation. */
  function matchesPath(fault: Fault, path: string): boolean {
    let glob = globs.get(fault.match)
    if (glob === undefined) {
      glob = createGlob(fault.match.path ?? '*')
      globs.set(fault.match, glob)
    }
    return glob(path.includes('%') ? decodeURIComponent(path) : path)
  }

  const isFor = (fault: Fault, { method, path, region }: FaultTarget) =>
    (fault.match.method ?? method) === method &&
    (fault.match.region ?? region) === region &&
    (fault.effect.kind !== 'stale-token' || region !== undefined) &&
    matchesPath(fault, path)

  const isArmedFor = (fault: Fault, request: FaultTarget, realNow: number) =>
    stateOf(fault, realNow) === 'armed' && isFor(fault, request)

  /** Returns whether a fault fires on a request. `seen` counts the matching requests, with this one. */
  const fires = ({ skip, probability }: Fault, seen: number) =>
    seen > skip && (probability === 1 || ids.fraction('fault') < probability)

  function sample(delay: Delay): number {
    if ('ms' in delay) return delay.ms
    if (delay.distribution === 'uniform') {
      return Math.round(delay.min + ids.fraction('fault') * (delay.max - delay.min))
    }
    // Box-Muller transform.
    const radius = Math.sqrt(-2 * Math.log(1 - ids.fraction('fault')))
    const normal = radius * Math.cos(2 * Math.PI * ids.fraction('fault'))
    return Math.round(Math.min(delay.median * Math.exp(delay.sigma * normal), delay.max))
  }

  const { list, restore } = faults
  return {
    ...faults,
    /** @throws INVALID_FIELD (it could never fire, or there are too many) */
    arm(request: FaultRequest, operations: readonly Operation[], realNow: number): Fault {
      const { match = {}, times = 1, skip = 0, probability = 1, ttl, effect } = request
      faults.assertFree()
      assertValidEffect(effect)
      assertReachable(match, effect, operations)
      const lifetime = ttl === undefined ? undefined : (parseDuration(ttl) as number)
      if (lifetime === 0) throw errors.invalid('ttl', 'With a ttl of 0, the fault could never fire.')
      const fault: Fault = {
        id: faults.nextId(),
        match,
        times,
        skip,
        probability,
        ...(ttl !== undefined && { ttl }),
        effect,
        armedAt: formatInstant(clock.now()),
        ...(lifetime !== undefined && { expiresAt: realNow + lifetime * 1000 }),
        seen: 0,
        fired: 0,
      }
      const all = [...list(), fault]
      assertRoom(all)
      restore(all)
      return fault
    },
    stateOf,
    /** Returns the real time at which the next fault expires; Infinity: none does. */
    nextExpiry: (realNow: number): number =>
      Math.min(Infinity, ...list().map(({ expiresAt = Infinity }) => (expiresAt > realNow ? expiresAt : Infinity))),
    /** Whether any armed fault applies to a request. Counts nothing. */
    matches: (request: FaultTarget, realNow: number): boolean =>
      list().some(fault => isArmedFor(fault, request, realNow)),
    /** Counts a request for all matching faults, and returns the faults that fire. */
    apply(request: FaultTarget, realNow: number): AppliedFaults {
      const fired: Fault[] = []
      let delay = 0
      let effect: AppliedFaults['effect'] = null
      const all = list().map(fault => {
        const isDelay = fault.effect.kind === 'delay'
        if (!isArmedFor(fault, request, realNow) || (!isDelay && effect !== null)) return fault
        const seen = fault.seen + 1
        if (!fires(fault, seen)) return { ...fault, seen }
        if (fault.effect.kind === 'delay') delay += sample(fault.effect)
        else effect = fault.effect
        const counted = { ...fault, seen, fired: fault.fired + 1 }
        fired.push(counted)
        return counted
      })
      restore(all)
      return { fired, delay: Math.min(delay, LONGEST_DELAY_MS), effect }
    },
  }
}

/** The members that an object of a kind must have, and those that it can have. */
type Kinds = Readonly<Record<string, { readonly required: readonly string[]; readonly optional?: readonly string[] }>>

/** The members of each kind of effect, without `kind`. A random delay has the kind of its distribution. */
const EFFECT_MEMBERS: Kinds = {
  error: { required: ['status'], optional: ['code', 'message', 'retryAfter', 'headers'] },
  delay: { required: ['ms'] },
  uniform: { required: ['distribution', 'min', 'max'] },
  lognormal: { required: ['distribution', 'median', 'sigma', 'max'] },
  drop: { required: ['when'] },
  reset: { required: ['when'] },
  truncate: { required: [] },
  garbage: { required: [] },
  dribble: { required: ['ms'] },
  'stale-token': { required: [] },
  patch: { required: ['patch'] },
}

/** The members of each operation of a patch, without `op` and `path`. */
const OPERATION_MEMBERS: Kinds = {
  add: { required: ['value'] },
  replace: { required: ['value'] },
  remove: { required: [] },
}

/** Refuses an object that lacks a member of its kind, or has one of another kind. @throws MISSING_FIELD, INVALID_FIELD */
function assertMembers(path: string, kinds: Kinds, kind: string, object: object): void {
  const membersOf = (kind: string) => [...(kinds[kind]?.required ?? []), ...(kinds[kind]?.optional ?? [])]
  const missing = kinds[kind]?.required.find(name => !(name in object))
  if (missing !== undefined) throw errors.missing(`${path}.${missing}`, `${missing} is required with ${kind}.`)
  const excess = Object.keys(object).find(name => !membersOf(kind).includes(name))
  if (excess === undefined) return
  const others = Object.keys(kinds).filter(kind => membersOf(kind).includes(excess))
  throw errors.invalid(`${path}.${excess}`, `${excess} goes with ${others.join(', ')}, not with ${kind}.`)
}

/** Checks the members of an effect. The schema has checked their types. @throws MISSING_FIELD, INVALID_FIELD */
function assertValidEffect(effect: Effect): void {
  const { kind, ...members } = effect
  const { distribution = kind } = members as { distribution?: string }
  assertMembers('effect', EFFECT_MEMBERS, kind === 'delay' ? distribution : kind, members)
  if (effect.kind === 'error') assertValidHeaders(effect)
  if ('min' in effect && effect.max < effect.min) throw errors.invalid('effect.max', 'max must not be below min.')
  if (effect.kind === 'patch') {
    for (const [at, { op, path: _path, ...members }] of effect.patch.entries()) {
      assertMembers(`effect.patch.${at}`, OPERATION_MEMBERS, op, members)
    }
  }
}

/** Headers of message framing and of the server itself, which a fault cannot set. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'proxy-connection',
  'sandbox-hint',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-request-id',
])

function assertValidHeaders({ retryAfter, headers = {} }: Extract<Effect, { kind: 'error' }>): void {
  const seen = new Set(retryAfter === undefined ? [] : ['retry-after'])
  for (const given of Object.keys(headers)) {
    const name = given.toLowerCase()
    const field = `effect.headers.${given}`
    if (RESERVED_HEADERS.has(name)) throw errors.invalid(field, `${name} is the server's own: a fault cannot set it.`)
    if (seen.has(name)) throw errors.invalid(field, `${name} is given twice.`)
    seen.add(name)
  }
}

/**
 * Refuses a match that no operation can meet.
 * @throws INVALID_FIELD naming the first impossible part
 */
function assertReachable({ path, method, region }: FaultMatch, { kind }: Effect, all: readonly Operation[]): void {
  const hasPath = (operation: Operation) => path === undefined || canMeet(path, operation.path)
  const hasMethod = (operation: Operation) =>
    method === undefined || method === operation.method || (method === 'HEAD' && operation.method === 'GET')
  const hasRegion = ({ regions }: Operation) => region === undefined || regions?.includes(region) === true
  // Only the token request has no region, and it needs no token.
  const hasToken = ({ regions }: Operation) => kind !== 'stale-token' || regions !== undefined

  const tests = { 'match.path': hasPath, 'match.method': hasMethod, 'match.region': hasRegion, 'effect.kind': hasToken }
  let left = all
  for (const [part, test] of Object.entries(tests)) {
    const next = left.filter(test)
    if (next.length === 0) {
      const served = [...new Set(left.flatMap(({ regions }) => regions ?? []))].join(', ') || 'none'
      const right = part === 'match.region' ? `Regions there: ${served}.` : `Operations: ${namesOf(left)}.`
      throw errors.invalid(part, `The fault could never fire: no valid request has this ${part}. ${right}`)
    }
    left = next
  }
}

const namesOf = (operations: readonly Operation[]) => operations.map(({ operation }) => operation).join(', ')
