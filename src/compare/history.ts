import type { Kind } from './contract.js'
import { isBefore } from './har.js'
import type { Observation } from './observations.js'
import { isSound } from './observations.js'
import { membersOf, textAt } from './values.js'

type Json = Readonly<Record<string, unknown>>

/** What earlier answers have shown of a record. */
export interface Known {
  /** All members that answers have shown, as they were last. */
  readonly record: Json
  readonly status: string | undefined
  /** The request that created it; undefined: it was there before. */
  readonly creation: Observation | undefined
  readonly region: string
  readonly last: Observation
}

/** A page of a list. */
export interface Page {
  readonly totalCount: unknown
  readonly references: ReadonlySet<string>
}

/** The earlier answers to one client in one environment. */
export interface History {
  /** Finds a record whose last answer came before a request was sent. */
  find(kind: string, reference: unknown, observation: Observation): Known | undefined
  /** Finds a record as `find`, in another region only. */
  elsewhere(kind: string, reference: unknown, observation: Observation): Known | undefined
  /** Lists the known records of a kind. */
  all(kind: string): readonly Known[]
  /** Returns the id of the last document that was uploaded to a bill. */
  uploadOf(reference: unknown, observation: Observation): string | undefined
  /** Returns the pages before the one of a cursor. */
  before(cursor: unknown): readonly Page[]
  add(observation: Observation): void
}

const keyOf = (kind: string, region: string, reference: unknown) => `${kind} ${region} ${reference}`

export function createHistory(): History {
  const known = new Map<string, Known>()
  const regions = new Map<string, Set<string>>()
  const kinds = new Map<string, Set<string>>()
  const uploads = new Map<string, Observation>()
  const pages = new Map<unknown, readonly Page[]>()

  function find(kind: string, reference: unknown, region: string, observation: Observation): Known | undefined {
    const found = known.get(keyOf(kind, region, reference))
    return found !== undefined && isBefore(found.last, observation) ? found : undefined
  }

  function note(kind: Kind, record: Json, observation: Observation) {
    const reference = textAt(record, kind.reference)
    if (reference === undefined) return
    const { region } = observation
    const key = keyOf(kind.path, region, reference)
    const earlier = known.get(key)
    const isCreation = observation.operation?.method === 'POST' && observation.operation.params === undefined
    // What breaks a rule of its own is not compared again.
    const sound = Object.fromEntries(Object.entries(record).filter(([name]) => isSound(observation, name)))
    known.set(key, {
      record: { ...earlier?.record, ...sound },
      status: textAt(sound, 'status') ?? earlier?.status,
      creation: isCreation ? observation : earlier?.creation,
      region,
      last: observation,
    })
    add(regions, keyOf(kind.path, '', reference), region)
    add(kinds, kind.path, key)
  }

  function notePage(kind: Kind, observation: Observation) {
    const { nextCursor, totalCount } = observation.answer.kind === 'json' ? membersOf(observation.answer.value) : {}
    if (typeof nextCursor !== 'string') return
    const references = new Set(observation.records.map(record => textAt(record, kind.reference) ?? ''))
    // The last pages are enough, and bound the work.
    pages.set(nextCursor, [...(pages.get(observation.query.cursor) ?? []).slice(-50), { totalCount, references }])
  }

  return {
    find: (kind, reference, observation) => find(kind, reference, observation.region, observation),
    elsewhere(kind, reference, observation) {
      const others = regions.get(keyOf(kind, '', reference)) ?? new Set()
      const [other] = others
      return other === undefined || others.has(observation.region)
        ? undefined
        : find(kind, reference, other, observation)
    },
    all: kind => [...(kinds.get(kind) ?? [])].map(key => known.get(key) as Known),
    uploadOf(reference, observation) {
      const upload = uploads.get(keyOf('bills', observation.region, reference))
      return upload !== undefined && isBefore(upload, observation) ? textAt(upload.records[0], 'documentId') : undefined
    },
    before: cursor => pages.get(cursor) ?? [],
    add(observation) {
      const { operation, records, params, isAccepted } = observation
      if (operation?.kind === undefined || !isAccepted) return
      for (const record of records) note(operation.kind, record, observation)
      if (operation.id === 'cancelPayoutLink') note(operation.kind, { ...params, status: 'CANCELLED' }, observation)
      if (operation.id === 'uploadBillDocument') {
        uploads.set(keyOf('bills', observation.region, params.uniqueReferenceIdentifier), observation)
      }
      notePage(operation.kind, observation)
    },
  }
}

function add(sets: Map<string, Set<string>>, key: string, value: string): void {
  const set = sets.get(key) ?? new Set()
  sets.set(key, set.add(value))
}
