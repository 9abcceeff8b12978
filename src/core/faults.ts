import { parseDuration } from './duration.js'
import type { Engine } from './engine.js'
import { atPath, errors } from './errors.js'
import { canMeet, createGlob } from './glob.js'
import type { Operation } from './operations.js'
import type { Region } from './regions.js'
import { formatInstant } from './time.js'

/** Which requests a fault is for; what is left out does not matter. In `path`, `*` stands for any run of characters. */
export interface FaultMatch {
  readonly method?: string
  readonly path?: string
  readonly region?: Region
}

/** Whether a request that a fault cuts off was applied before, or not at all. */
export type When = 'before' | 'after'

/** How long an answer is late: milliseconds, or a distribution of them. */
export type Delay =
  | number
  | { readonly distribution: 'uniform'; readonly min: number; readonly max: number }
  | { readonly distribution: 'lognormal'; readonly median: number; readonly sigma: number; readonly max: number }

/** What a fault does to a request (control plane, Faults). */
export type Effect =
  | {
      readonly kind: 'error'
      readonly status: number
      readonly code?: string
      readonly message?: string
      /** In seconds. */
      readonly retryAfter?: number
      readonly headers?: Readonly<Record<string, string>>
    }
  | ({ readonly kind: 'delay' } & ({ readonly ms: Delay } | Exclude<Delay, number>))
  | { readonly kind: 'drop' | 'reset'; readonly when: When }
  | { readonly kind: 'truncate' | 'garbage' | 'stale-token' }
  | { readonly kind: 'dribble'; readonly ms: number }

export type EffectKind = Effect['kind']

/** A fault as it is asked for. */
export interface FaultRequest {
  readonly match?: FaultMatch
  /** How often it fires; null: until it is removed. */
  readonly times?: number | null
  /** How many matching requests it lets through first. */
  readonly skip?: number
  /** How likely it fires on a matching request. */
  readonly probability?: number
  /** How long it stays armed, as an ISO 8601 duration of real time. */
  readonly ttl?: string
  readonly effect: Effect
}

/** A fault of a tenant, armed or no longer. */
export interface Fault extends FaultRequest {
  readonly id: string
  readonly match: FaultMatch
  readonly times: number | null
  readonly skip: number
  readonly probability: number
  /** The tenant's time, YYYY-MM-DDThh:mm:ssZ. */
  readonly armedAt: string
  /** The real time, in milliseconds, at which `ttl` is over. */
  readonly expiresAt?: number
  /** How many requests have matched, those let through included. */
  seen: number
  fired: number
}

/** Whether it can fire still; if not, whether it has fired as often as it should, or its time is over. */
export type FaultState = 'armed' | 'spent' | 'expired'

/** What a request is to a fault. */
export interface Faulted {
  readonly method: string
  /** As it came, with percent-encoding that decodes. */
  readonly path: string
  /** Undefined: its operation takes none, as the one that issues tokens, which takes no token either. */
  readonly region: string | undefined
}

/** The faults that one request has met: every delay that matches, and the first other that does. */
export interface Met {
  /** In the order in which they were armed. */
  readonly fired: readonly Fault[]
  /** How late the answer is, in milliseconds. */
  readonly delay: number
  /** What else happens to it. */
  readonly effect: Exclude<Effect, { kind: 'delay' }> | null
}

/** The faults of one tenant, in the order in which they were armed. They are seeded: a run repeats exactly. */
export interface Faults {
  /** @throws INVALID_FIELD (it could never fire, or there are too many) */
  arm(request: FaultRequest, operations: readonly Operation[], realNow: number): Fault
  list(): readonly Fault[]
  stateOf(fault: Fault, realNow: number): FaultState
  /** @throws FAULT_NOT_FOUND */
  remove(id: string): void
  clear(): void
  /** Whether there are any, armed or no longer: mostly there are none, and nothing needs to be asked of them. */
  areAny(): boolean
  /** Whether a request would meet, or count for, any of them. */
  concern(request: Faulted, realNow: number): boolean
  /** Lets the faults fire that a request meets, and counts it. */
  meet(request: Faulted, realNow: number): Met
}

/** Far more than a test needs; each is looked at on every request. */
const MOST_FAULTS = 1000

/**
 * @param earlier the faults of an earlier life
 * @throws MISSING_FIELD, INVALID_FIELD, DUPLICATE_REFERENCE: one of those could not work
 */
export function createFaults({ clock, ids }: Pick<Engine, 'clock' | 'ids'>, earlier: readonly Fault[] = []): Faults {
  let faults: Fault[] = earlier.map((fault, at) => {
    atPath(`faults.${at}`, () => {
      refuseWrongEffect(fault.effect)
      if (earlier.findIndex(({ id }) => id === fault.id) < at) throw errors.duplicateReference('id', fault.id)
    })
    return { ...fault }
  })
  const globs = new WeakMap<Fault, (path: string) => boolean>()

  function stateOf({ times, fired, expiresAt }: Fault, realNow: number): FaultState {
    if (times !== null && fired >= times) return 'spent'
    return expiresAt !== undefined && realNow >= expiresAt ? 'expired' : 'armed'
  }

  /** However a path is encoded, it leads to the same operation. */
  function matchesPath(fault: Fault, path: string): boolean {
    let glob = globs.get(fault)
    if (glob === undefined) {
      glob = createGlob(fault.match.path ?? '*')
      globs.set(fault, glob)
    }
    return glob(path.includes('%') ? decodeURIComponent(path) : path)
  }

  const isFor = (fault: Fault, { method, path, region }: Faulted) =>
    (fault.match.method ?? method) === method &&
    (fault.match.region ?? region) === region &&
    (fault.effect.kind !== 'stale-token' || region !== undefined) &&
    matchesPath(fault, path)

  const isConcerned = (fault: Fault, request: Faulted, realNow: number) =>
    stateOf(fault, realNow) === 'armed' && isFor(fault, request)

  /** A state that was put back can hold any ids. */
  function nextId(): string {
    const id = `fault-${ids.count('fault id')}`
    return faults.some(fault => fault.id === id) ? nextId() : id
  }

  /** Counts a request that a fault is for. */
  function fires(fault: Fault): boolean {
    fault.seen++
    if (fault.seen <= fault.skip || (fault.probability < 1 && ids.fraction('fault') >= fault.probability)) return false
    fault.fired++
    return true
  }

  function sample(delay: Delay): number {
    if (typeof delay === 'number') return delay
    if (delay.distribution === 'uniform') {
      return Math.round(delay.min + ids.fraction('fault') * (delay.max - delay.min))
    }
    // Box and Muller, 1958: two even numbers make one of the normal distribution.
    const radius = Math.sqrt(-2 * Math.log(1 - ids.fraction('fault')))
    const normal = radius * Math.cos(2 * Math.PI * ids.fraction('fault'))
    return Math.round(Math.min(delay.median * Math.exp(delay.sigma * normal), delay.max))
  }

  return {
    arm(request, operations, realNow) {
      const { match = {}, times = 1, skip = 0, probability = 1, ttl, effect } = request
      if (faults.length >= MOST_FAULTS) {
        throw errors.invalid(null, `There are ${MOST_FAULTS} faults: remove some with DELETE /_sandbox/faults.`)
      }
      refuseWrongEffect(effect)
      refuseUnreachable(match, effect, operations)
      const lifetime = ttl === undefined ? undefined : (parseDuration(ttl) as number)
      if (lifetime === 0) throw errors.invalid('ttl', 'With a ttl of no time, the fault could never fire.')
      const fault: Fault = {
        id: nextId(),
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
      faults.push(fault)
      return fault
    },
    list: () => faults,
    areAny: () => faults.length > 0,
    stateOf,
    remove(id) {
      if (!faults.some(fault => fault.id === id)) throw errors.faultNotFound(id)
      faults = faults.filter(fault => fault.id !== id)
    },
    clear() {
      faults = []
    },
    concern: (request, realNow) => faults.some(fault => isConcerned(fault, request, realNow)),
    meet(request, realNow) {
      const fired: Fault[] = []
      let delay = 0
      let effect: Met['effect'] = null
      for (const fault of faults) {
        if (!isConcerned(fault, request, realNow)) continue
        if (fault.effect.kind === 'delay') {
          if (!fires(fault)) continue
          delay += sample('ms' in fault.effect ? fault.effect.ms : fault.effect)
        } else {
          if (effect !== null || !fires(fault)) continue
          effect = fault.effect
        }
        fired.push(fault)
      }
      return { fired, delay, effect }
    },
  }
}

/** The members that an effect of each kind must and may have, beside `kind`. */
const MEMBERS: Readonly<Record<EffectKind, { readonly must: readonly string[]; readonly may?: readonly string[] }>> = {
  error: { must: ['status'], may: ['code', 'message', 'retryAfter', 'headers'] },
  delay: { must: [], may: ['ms', 'distribution', 'min', 'max', 'median', 'sigma'] },
  drop: { must: ['when'] },
  reset: { must: ['when'] },
  truncate: { must: [] },
  garbage: { must: [] },
  dribble: { must: ['ms'] },
  'stale-token': { must: [] },
}

export const EFFECT_KINDS = Object.keys(MEMBERS) as EffectKind[]

/** The types of the members are checked before. @throws MISSING_FIELD, INVALID_FIELD */
function refuseWrongEffect(effect: Effect): void {
  const { must, may = [] } = MEMBERS[effect.kind]
  for (const name of must) {
    if (!(name in effect)) throw errors.missing(`effect.${name}`, `effect.${name} is required with ${effect.kind}.`)
  }
  const excess = Object.keys(effect).find(name => name !== 'kind' && !must.includes(name) && !may.includes(name))
  if (excess !== undefined) {
    const kinds = EFFECT_KINDS.filter(kind => [MEMBERS[kind].must, MEMBERS[kind].may ?? []].flat().includes(excess))
    throw errors.invalid(`effect.${excess}`, `effect.${excess} goes with ${kinds.join(', ')}, not with ${effect.kind}.`)
  }
  if (effect.kind === 'error') refuseWrongHeaders(effect)
  if (effect.kind === 'delay') refuseWrongDelay(effect)
  if (effect.kind === 'dribble' && typeof effect.ms !== 'number') {
    throw errors.invalid('effect.ms', 'effect.ms of dribble must be an integer.')
  }
}

/** What frames an answer, and what every answer has of the server's own: another one would break it, or be lost. */
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

function refuseWrongHeaders({ retryAfter, headers = {} }: Extract<Effect, { kind: 'error' }>): void {
  const seen = new Set(retryAfter === undefined ? [] : ['retry-after'])
  for (const given of Object.keys(headers)) {
    const name = given.toLowerCase()
    const field = `effect.headers.${given}`
    if (RESERVED_HEADERS.has(name)) throw errors.invalid(field, `${name} is the server's own: a fault cannot set it.`)
    if (seen.has(name)) throw errors.invalid(field, `${name} is given twice.`)
    seen.add(name)
  }
}

function refuseWrongDelay(effect: object): void {
  const isNested = 'ms' in effect
  const path = isNested ? 'effect.ms' : 'effect'
  const delay = (isNested ? effect.ms : effect) as Exclude<Delay, number>
  if (isNested && Object.keys(effect).length > 2) {
    throw errors.invalid('effect.ms', 'Give either ms or a distribution.')
  }
  if (typeof delay === 'number') return
  if (delay.distribution === undefined) {
    throw errors.missing(isNested ? 'effect.ms.distribution' : 'effect.ms', 'A delay needs ms, or a distribution.')
  }
  const names = delay.distribution === 'uniform' ? ['min', 'max'] : ['median', 'sigma', 'max']
  for (const name of names) {
    if (!(name in delay)) throw errors.missing(`${path}.${name}`, `${name} is required with ${delay.distribution}.`)
  }
  const excess = ['min', 'median', 'sigma'].find(name => name in delay && !names.includes(name))
  if (excess !== undefined) throw errors.invalid(`${path}.${excess}`, `${delay.distribution} takes no ${excess}.`)
  const least = delay.distribution === 'uniform' ? delay.min : 0
  if (delay.max < least) throw errors.invalid(`${path}.max`, 'max must not be below min.')
}

/** @throws INVALID_FIELD, naming the part that no operation meets, together with those before it */
function refuseUnreachable({ path, method, region }: FaultMatch, { kind }: Effect, all: readonly Operation[]): void {
  const hasPath = (operation: Operation) => path === undefined || canMeet(path, operation.path, operation.parameter)
  const hasMethod = (operation: Operation) =>
    method === undefined || method === operation.method || (method === 'HEAD' && operation.method === 'GET')
  const hasRegion = ({ regions }: Operation) => region === undefined || regions?.includes(region) === true
  // Where tokens are issued, none is asked for.
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
