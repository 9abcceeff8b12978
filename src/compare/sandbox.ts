import { isDeepStrictEqual } from 'node:util'
import type { Area, AreaName } from '../areas/index.js'
import { areas } from '../areas/index.js'
import type { Position } from '../core/records/cursor.js'
import type { StoredRecord } from '../core/records/repository.js'
import { stateAfter } from '../core/records/state-machine.js'
import type { StatefulEntry, Step } from '../core/records/stateful-repository.js'
import type { Region } from '../core/rules/regions.js'
import type { Instant } from '../core/time/time.js'
import { formatInstant, LAST_INSTANT, wholeSecond } from '../core/time/time.js'
import { OWN_FIXTURES } from '../package.js'
import { buildServer } from '../server.js'
import { loadFixtures } from '../tenants/fixtures.js'
import type { Tenant } from '../tenants/tenant.js'
import { createContract } from './contract.js'

export type Json = Readonly<Record<string, unknown>>

/** A request as it is sent to the sandbox. */
export interface Outgoing {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly payload?: string | Buffer | undefined
}

/** An answer of the sandbox. `body` is parsed JSON; undefined: there is none. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

/** A record by its captured reference. */
export interface Reference {
  readonly area: AreaName
  readonly region: Region
  readonly reference: string
}

type Shown = Readonly<Record<string, unknown>>

/** One end of the time in which the captured moment lies: a client of the sandbox whose clock is an hour early or late. */
export type End = ReturnType<typeof createEnd>

/** The service and the sandbox can differ by this time, in milliseconds. */
export const TOLERANCE = 3_600_000
const SHIFTS = [-TOLERANCE, TOLERANCE] as const

export type Sandbox = Awaited<ReturnType<typeof createSandbox>>

/**
 * Creates a sandbox in memory that captured traffic is held against. It does not listen.
 * @param from the first moment of the traffic, in milliseconds
 */
export async function createSandbox(from: number) {
  let isUndone = false
  const start = bounded(from - TOLERANCE)
  const { app, registry, documented } = buildServer({
    seed: 'compare',
    frozenAt: start,
    fixtures: loadFixtures(OWN_FIXTURES),
    clients: [],
    openRegistration: true,
    maxTenants: Number.POSITIVE_INFINITY,
    tokenLifetime: 3600,
    publicUrl: () => 'http://localhost',
    isReplay: true,
    isUndone: () => isUndone,
    recordingBytes: 0,
    now: () => 0,
  })
  await app.ready()
  const open = (clientId: string) => registry.authenticate(clientId, SECRET, 0)
  const contract = createContract(documented)
  let clients = 0

  async function ask({ method, url, headers, payload }: Outgoing, undo: boolean): Promise<Answer> {
    isUndone = undo
    try {
      const response = await app.inject({
        method: method as 'GET',
        url,
        headers,
        ...(payload !== undefined && { payload }),
      })
      const isJson = method !== 'HEAD' && /json/.test(String(response.headers['content-type']))
      return {
        status: response.statusCode,
        headers: response.headers as Record<string, string>,
        body: isJson && response.payload !== '' ? JSON.parse(response.payload) : undefined,
      }
    } finally {
      isUndone = false
    }
  }

  return {
    contract,
    documented,
    /** Opens a client at both ends of the time. */
    open: (): readonly [End, End] => {
      const number = ++clients
      return SHIFTS.map(shift =>
        createEnd(open(`client-${number}.${shift < 0 ? 'early' : 'late'}`), shift, ask),
      ) as unknown as readonly [End, End]
    },
    /** Removes a client. */
    forget(ends: readonly End[]): void {
      for (const { clientId } of ends) registry.remove(clientId, 0)
    },
    close: () => app.close(),
  }
}

/** The secret of all clients of the sandbox. */
export const SECRET = 'secret'

const bounded = (at: number): Instant => wholeSecond(Math.min(Math.max(at, 0), LAST_INSTANT))

function createEnd(tenant: Tenant, shift: number, ask: (request: Outgoing, undo: boolean) => Promise<Answer>) {
  /** The values that the service and this client have made for the same thing, by each other. */
  const own = new Map<string, string>()
  const captured = new Map<string, string>()
  /** Replaces the texts of the capture by those of this client, or the reverse. */
  const translate = (value: unknown, texts: ReadonlyMap<string, string> = own): unknown => {
    if (texts.size === 0) return value
    if (typeof value === 'string') return texts.get(value) ?? value
    if (value === null || typeof value !== 'object') return value
    if (Array.isArray(value)) return value.map(item => translate(item, texts))
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, translate(member, texts)]))
  }
  const findEntry = ({ area, region, reference }: Reference) =>
    (tenant[area].find(own.get(reference) ?? reference) as StatefulEntry<Json>[]).find(one => one.region === region)

  /** Returns the states that a record comes into by itself, in order. */
  function comingStates(area: AreaName, record: Json): string[] {
    const { transitions = {} } = (areas[area] as Area).lifecycle ?? {}
    const states: string[] = []
    for (let present = record; states.length < 10; ) {
      const { nextStep } = storedOf({ area, region: 'EU' }, present, 0, 0)
      const to = nextStep && stateAfter(transitions, String(present.status), nextStep.verb)
      if (!to) break
      states.push(to)
      present = { ...present, status: to }
    }
    return states
  }

  return {
    clientId: tenant.clientId,
    tenant,
    captured,
    ask,
    translate: (value: unknown) => translate(value),
    /** Returns a value of this client in the terms of the capture. */
    original: (value: unknown) => translate(value, captured),
    /** Moves the clock to the time of this end at a captured moment. It never goes back. */
    moveTo: (at: number): void => tenant.clock.replayTo(bounded(at + shift), 0),
    /** Whether a record is stored exactly as the capture shows it. */
    has(reference: Reference, record: Json, shown: Shown): boolean {
      const known = findEntry(reference)
      return known !== undefined && hasMembers(known.record, translate(record) as Json, shown)
    },
    /** Finds a record by its captured reference. */
    find: findEntry,
    /** Notes that a captured value stands for one of this client. Returns whether neither stands for another. */
    pair(theirs: string, ours: string): boolean {
      const isKnown = own.get(theirs) === ours && captured.get(ours) === theirs
      if (isKnown) return true
      const isFree = !own.has(theirs) && !captured.has(ours)
      own.set(theirs, ours)
      captured.set(ours, theirs)
      return isFree
    },
    /** Whether the next transition of a record is not made: it has failed, or its time was over at the adoption. */
    isHeld(reference: Reference): boolean {
      const entry = findEntry(reference)
      if (entry?.failure !== undefined) return true
      return entry?.nextStep === null && comingStates(reference.area, entry.record).length > 0
    },
    comingStates,
    /**
     * Brings a record to what the service shows, without any check (docs/persistence.md). Members that are not shown stay.
     * @param shown the members that the answer can show
     * @param place the place of a record that it does not have; by default the next one
     * @param isIdle whether its next transition is not planned; undefined: it is not if its time is over
     * @returns whether it is not planned
     */
    adopt(reference: Reference, record: Json, shown: Shown, place?: Position, isIdle?: boolean): boolean {
      const known = findEntry(reference)
      const wanted = translate(record) as Json
      if (known !== undefined && hasMembers(known.record, wanted, shown)) return false
      const hidden = Object.entries(known?.record ?? {}).filter(([name]) => !Object.hasOwn(shown, name))
      const now = tenant.clock.now()
      const { sequence, createdAt } = known ?? place ?? { sequence: tenant.nextSequence(), createdAt: now }
      const stored = storedOf(reference, { ...wanted, ...Object.fromEntries(hidden) }, sequence, createdAt)
      const isOver = isIdle ?? (stored.nextStep != null && stored.nextStep.at <= now)
      tenant[reference.area].load({ ...stored, timeline: known?.timeline ?? [], ...(isOver && { nextStep: null }) })
      return isOver
    },
  }

  function storedOf({ area, region }: Omit<Reference, 'reference'>, record: Json, sequence: number, at: Instant) {
    const snapshot = { region, sequence, timeline: [], createdAt: formatInstant(at), record }
    return tenant[area].fromSnapshot(snapshot as never) as StoredRecord & { nextStep?: Step<string> | null }
  }
}

/** Whether a record has exactly these of the members that are shown. */
function hasMembers(record: Json, wanted: Json, shown: Shown): boolean {
  const names = Object.keys(record).filter(name => Object.hasOwn(shown, name))
  return (
    names.length === Object.keys(wanted).length && names.every(name => isDeepStrictEqual(record[name], wanted[name]))
  )
}
