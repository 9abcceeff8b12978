import type { Area, AreaName } from '../areas/index.js'
import { areaNames, areas } from '../areas/index.js'
import { REGIONS } from '../core/domain/regions.js'
import { atPath, errors } from '../core/errors.js'
import { ownMember } from '../core/own-member.js'
import type { Event } from '../core/records/events.js'
import type { StoredRecord } from '../core/records/repository.js'
import type { ClockState } from '../core/time/clock.js'
import { toNoun } from '../core/words.js'
import type { Deprecation } from '../sandbox/deprecations/state.js'
import type { Fault } from '../sandbox/faults/state.js'
import type { ArmedOutcome } from '../sandbox/outcomes/state.js'
import type { Settings } from '../sandbox/settings/schemas.js'
import type { StateDocument } from '../sandbox/state/schemas.js'

/** The number of records of each kind. */
export type Counts = Readonly<Record<AreaName, number>>

/** The state of a tenant beside its records and events. */
export interface TenantMeta {
  readonly clock: ClockState
  readonly settings: Settings
  readonly deprecations: readonly Deprecation[]
  readonly faults: readonly Fault[]
  readonly outcomes: readonly ArmedOutcome[]
  readonly ids: { readonly scope: string; readonly counters: Readonly<Record<string, number>> }
  readonly tokens: { readonly generation: number }
  readonly sequence: number
}

/** A record of some kind, as a database keeps it. */
export interface TenantRecord extends StoredRecord {
  readonly kind: AreaName
}

/** The state of a tenant, or what has changed in it. Loading it checks no limit, so that no later release changes it. */
export interface TenantContent {
  readonly meta: TenantMeta
  readonly records: readonly TenantRecord[]
  readonly events: readonly Event[]
}

/**
 * Looks a record of a database up in the tables of this release. A later release that renames something ships a migration.
 * @throws Error naming what this release lacks
 */
export function assertKnown({ kind, region, record, nextStep }: TenantRecord): void {
  const { status, outcome } = record as { readonly status?: string; readonly outcome?: string }
  const area = ownMember<Area>(areas, kind)
  if (area === undefined) throw lacking('kind of records', kind)
  if (!REGIONS.includes(region)) throw lacking('region', region)
  const states = area.lifecycle?.table
  if (states === undefined) return
  const noun = toNoun(kind)
  const transitions = ownMember<object>(states, String(status))
  if (transitions === undefined) throw lacking(`state of a ${noun}`, String(status))
  const { transition }: { readonly transition?: string } = nextStep ?? {}
  if (transition !== undefined && !Object.hasOwn(transitions, transition))
    throw lacking(`transition of a ${status} ${noun}`, transition)
  if (outcome !== undefined && !area.outcomes?.names.includes(outcome)) throw lacking(`outcome of a ${noun}`, outcome)
}

const lacking = (what: string, name: string) => new Error(`This release has no ${what} called ${JSON.stringify(name)}.`)

/** The members of a record. */
export type Json = Readonly<Record<string, unknown>>

interface Related {
  recordsOf(name: AreaName): readonly Json[]
  /** The path of the list in the request, for errors. */
  readonly path: string
  isStored(name: AreaName, reference: string): boolean
}

/**
 * Refuses records that name a missing record of another kind (`refersTo` of their row).
 * @throws the code `notFound` of the other kind
 */
export function assertRelated(name: AreaName, { recordsOf, path, isStored }: Related): void {
  const { refersTo = {} }: Area = areas[name]
  for (const [member, { kind }] of Object.entries(refersTo)) {
    const { reference, notFound } = areas[kind]
    const given = new Set(recordsOf(kind).map(record => record[reference]))
    for (const [index, { [member]: wanted }] of recordsOf(name).entries()) {
      if (wanted === undefined || given.has(wanted) || isStored(kind, String(wanted))) continue
      atPath(`${path}.${index}`, () => {
        throw errors.recordNotFound(notFound, member, toNoun(kind), String(wanted))
      })
    }
  }
}

/** Refuses numbers of events and records that are missing, repeated, or above the last. @throws INVALID_FIELD */
export function assertOrder({ sequence, events, ...snapshot }: StateDocument) {
  const misnumbered = events.findIndex(({ seq }, at) => seq !== at + 1)
  if (misnumbered >= 0) throw errors.invalid(`events.${misnumbered}.seq`, `seq must be ${misnumbered + 1} here.`)
  const taken = new Set<number>()
  for (const kind of areaNames()) {
    for (const [at, { sequence: number }] of (snapshot[kind] ?? []).entries()) {
      const field = `${kind}.${at}.sequence`
      if (number > sequence)
        throw errors.invalid(field, `sequence must be at most ${sequence}, the sequence of the state.`)
      if (taken.has(number)) throw errors.invalid(field, `Another record has the sequence ${number}.`)
      taken.add(number)
    }
  }
}
