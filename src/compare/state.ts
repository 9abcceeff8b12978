import type { TSchema } from '@sinclair/typebox'
import { presentedAt } from '../areas/direct-debit/store.js'
import type { Area, AreaName, RefersTo } from '../areas/index.js'
import { areas, byArea } from '../areas/index.js'
import { ownMember } from '../core/own-member.js'
import { comparePositions } from '../core/records/list.js'
import { isIban } from '../core/rules/identifiers.js'
import type { Region } from '../core/rules/regions.js'
import { formatInstant, wholeSecond } from '../core/time/time.js'
import type { TenantSnapshot } from '../tenants/snapshot.js'
import type { Group } from './case.js'
import { isShown, pick, recordIn } from './case.js'
import type { Comparison } from './compare.js'
import type { Contract } from './contract.js'
import { madeUp } from './explain.js'
import { HarError } from './har.js'
import type { End, Json } from './sandbox.js'

const NO_RECORD = 'the file shows no record of the interface'

/** A record of the capture with its place. */
interface Placed {
  readonly region: string
  readonly createdAt: number
  readonly sequence: number
  readonly record: Json
}

/** The records of a capture at its end. */
export interface Captured {
  /** The records of each area, oldest first. */
  readonly records: Readonly<Record<AreaName, readonly Placed[]>>
  /** The end of the capture: YYYY-MM-DDThh:mm:ssZ. */
  readonly now: string
  readonly snapshot: TenantSnapshot
}

/**
 * Returns the records that a capture has shown, as the sandbox has them at the end of the capture.
 * @param mask whether names, account numbers and other details of persons are replaced
 * @throws HarError if the capture has the records of no client, or of several
 */
export function recordsOf({ groups, sandbox, until }: Comparison, mask: boolean): Captured {
  const filled = groups.filter(({ known }) => [...known.values()].some(isShown))
  const [group, another] = filled
  if (group === undefined) throw new HarError(NO_RECORD)
  if (another !== undefined) {
    throw new HarError(`the file has the records of ${filled.length} clients: give --host, or a file with one client`)
  }
  const [end] = group.ends
  const { clock, settings, mandates, collections, bills, counterparties } = end.tenant
  clock.replayTo(Math.max(until, clock.now()), 0)
  // The last use of a mandate follows from its collections.
  for (const { record } of collections.entries()) {
    const at = presentedAt(record, clock.now())
    if (at !== undefined && mandates.find(record.mandateReference).length > 0)
      mandates.presented(record.mandateReference, at)
  }
  for (const { region, record } of bills.entries()) counterparties.ensure(region, record.counterpartyReference)
  const change = mask ? createMask() : (value: unknown) => value
  const records: { [Area in AreaName]: readonly Placed[] } = byArea(area => placedOf(group, area, change))
  // An answer can be of a record, and have none.
  if (Object.values(records).every(list => list.length === 0)) throw new HarError(NO_RECORD)
  // Records refer to earlier rows, so a record that is made up gets those that it names.
  for (const [area, { refersTo = {} }] of Object.entries<Area>(areas).reverse()) {
    for (const [member, row] of Object.entries(refersTo)) {
      const { kind } = row
      const known = new Set(records[kind].map(({ record }) => record[areas[kind].reference]))
      const missing = records[area as AreaName].filter(
        ({ record }) => record[member] !== undefined && !known.has(record[member]),
      )
      const made = new Map<unknown, Placed>()
      // The oldest record that names it comes last.
      for (const one of missing.reverse()) {
        const reference = one.record[member]
        made.set(reference, madeUpFor(sandbox.contract, end, row, String(reference), one))
      }
      records[kind] = [...made.values(), ...records[kind]].sort(comparePositions)
    }
  }
  // All but the records and the settings is as a new client has it.
  const snapshot = { ...sandbox.open()[0].tenant.snapshot(), settings }
  return { records, now: formatInstant(clock.now()), snapshot }
}

/** Lists the records of an area that the capture has shown, in the terms of the capture. A bill has made its counterparty. */
function placedOf(group: Group, area: AreaName, change: (record: unknown) => unknown): readonly Placed[] {
  const [end, late] = group.ends
  const entries = end.tenant[area].entries() as unknown as readonly (Placed & { region: Region })[]
  const placed = entries.flatMap(({ region, createdAt, sequence, record: own }) => {
    const record = end.original(own) as Json
    const known = recordIn(group, area, region, String(record[areas[area].reference]))
    if (!isShown(known) && (known.standing === 'made up' || area !== 'counterparties')) return []
    // A change whose time no answer has shown is one of its entry.
    const isTimed = record.updatedAt === late.find(known)?.record.updatedAt
    const times =
      isTimed || known.last?.at === undefined ? {} : { updatedAt: formatInstant(wholeSecond(known.last.at)) }
    return { region, createdAt, sequence, record: change({ ...record, ...times }) as Json }
  })
  return placed.sort(comparePositions)
}

/** Makes up a record that another one names, such as its mandate, and that the capture does not show: as old, and at least a day. */
function madeUpFor(contract: Contract, { tenant }: End, row: RefersTo, reference: string, by: Placed): Placed {
  const { kind, accepts } = row
  const { region } = by
  const createdAt = Math.min(tenant.clock.now() - 86_400_000, by.createdAt)
  const record = madeUp(contract, tenant, kind, reference)
  const text = formatInstant(createdAt)
  const times: Json = { 'date-time': text, date: text.slice(0, 10) }
  const schemas = (areas[kind].record as TSchema).properties
  const timely = Object.entries(record).map(([name, value]) => [name, ownMember(times, schemas[name]?.format) ?? value])
  return { region, createdAt, sequence: 0, record: { ...Object.fromEntries(timely), ...accepts } }
}

/** Returns the records as a state document (control plane, PUT /state), whose clock stands at the end of the capture. */
export function toState({ records, snapshot, now }: Captured, clientId: string): Json {
  const sorted = Object.values(records).flat().sort(comparePositions)
  const order = new Map(sorted.map((one, index) => [one, index + 1]))
  const lists = byArea((area, { lifecycle }) =>
    records[area].map(one => {
      const { region, createdAt, record } = one
      const place = { region, sequence: order.get(one) }
      return lifecycle === undefined
        ? { ...place, createdAt: formatInstant(createdAt), record }
        : { ...place, timeline: [], record }
    }),
  )
  return {
    ...snapshot,
    clock: { now, mode: 'running', rate: 1 },
    ids: { scope: clientId, counters: {} },
    tokens: { generation: 0 },
    sequence: sorted.length,
    ...lists,
    events: [],
  }
}

/** Returns the records as a fixture, whose dates are absolute. */
export const toFixture = ({ records }: Captured): Json =>
  Object.fromEntries(
    Object.entries(records).flatMap(([area, list]) => {
      const names: object = (areas[area as AreaName] as Area).seeds.items.properties
      return list.length === 0 ? [] : [[area, list.map(({ region, record }) => pick({ region, ...record }, names))]]
    }),
  )

// ------------------------------------------------------------------------------------------------------------- mask

/** What replaces the members that describe persons, by the number of the value among those of its kind. */
const MASKS: readonly (readonly [members: Pick<RegExp, 'test'>, replace: (number: number, text: string) => string])[] =
  [
    [/^fileName$/, number => `document-${number}`],
    [/^(name|accountHolderName|debtorName)$/, number => `Name ${number}`],
    [/^(iban|accountIdentifier)$/, (number, text) => accountOf(text, number)],
    [/^emailAddress$/, number => `person-${number}@example.com`],
    [/^mobileNumber$/, number => `+4915550${String(number).padStart(6, '0')}`],
    [/^line[12]$/, number => `Street ${number}`],
    [/^city$/, number => `Town ${number}`],
    [/^postalCode$/, () => '00000'],
  ]

/** The shortest bound of a text in which anything about a person can stand. */
const FREE_TEXT = 100

/** Lists the members of records that any text can be: free texts, which have no form and no values. */
const freeTexts = ({ items, properties = {} }: TSchema): readonly string[] =>
  items !== undefined
    ? freeTexts(items)
    : Object.entries<TSchema>(properties).flatMap(([name, member]) =>
        member.minLength === 1 && member.maxLength >= FREE_TEXT && !(member.pattern ?? member.format)
          ? [name]
          : freeTexts(member),
      )

/** Returns a function that replaces the details of persons by made-up valid ones, the same by the same. */
function createMask() {
  const free = new Set(Object.values<Area>(areas).flatMap(({ record }) => freeTexts(record)))
  const masks: typeof MASKS = [...MASKS, [{ test: name => free.has(name) }, number => `Text ${number}`]]
  const numbers = masks.map(() => new Map<string, number>())
  const replace = (name: string, text: string): string => {
    const kind = masks.findIndex(([members]) => members.test(name))
    const known = numbers[kind]
    if (known === undefined) return text
    const number = known.get(text) ?? known.size + 1
    known.set(text, number)
    return masks[kind]?.[1](number, text) ?? text
  }
  return (record: unknown): unknown =>
    JSON.parse(JSON.stringify(record), (name, value) => (typeof value === 'string' ? replace(name, value) : value))
}

/** Makes up an IBAN for an IBAN, and digits for other account numbers. */
function accountOf(text: string, number: number): string {
  if (!isIban(text)) return String(number).padStart(Math.min(text.length, 17), '0')
  const account = `50010517${String(number).padStart(10, '0')}`
  // ISO 13616: the letters DE are 13 and 14.
  return `DE${String(98n - (BigInt(`${account}131400`) % 97n)).padStart(2, '0')}${account}`
}
