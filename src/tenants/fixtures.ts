import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Area } from '../areas/index.js'
import { areas } from '../areas/index.js'
import { isAllowedOrigin } from '../core/origins.js'
import { ownMember } from '../core/own-member.js'
import { textOf } from '../core/text.js'
import { addOpenDays, onOrAfter, T2 } from '../core/time/business-days.js'
import { parseDuration } from '../core/time/duration.js'
import type { Instant } from '../core/time/time.js'
import { addDays, formatDay, formatInstant, instantOf, localTime, timeOfDay } from '../core/time/time.js'
import { toList, toNoun } from '../core/words.js'
import type { SeedRecords } from '../sandbox/state/schemas.js'

/**
 * A named world as in its file: records in the shape of `POST /_sandbox/seed`, dates still relative. Its `senderName` is
 * that of clients which start from it.
 */
export type Fixture = Readonly<Record<string, unknown>> & { readonly senderName?: string }

export type Fixtures = ReadonlyMap<string, Fixture>

/**
 * Reads all fixtures of some folders; of two with the same name the later one counts.
 * @throws Error with the name of a file that is no JSON object, or of a folder that cannot be read
 */
export function loadFixtures(...folders: string[]): Fixtures {
  const files = folders.flatMap(folder => readdirSync(folder).map(file => join(folder, file)))
  return new Map(files.filter(file => file.endsWith('.json')).map(file => [basename(file, '.json'), parse(file)]))
}

function parse(path: string): Fixture {
  let value: unknown
  try {
    value = JSON.parse(textOf(readFileSync(path)))
  } catch (error) {
    throw new Error(`${path} is not JSON: ${(error as Error).message}`)
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new Error(`${path} is not a JSON object`)
  return value as Fixture
}

const MOMENT = /^\{\{now(?:([+-])(P\w+))?\}\}$/
const DATE = /^\{\{today(?:([+-])(P\w+))?\}\}$/
const OPEN_DAY = /^\{\{open-day(?:([+-])(\d{1,4}))?(?:T([01]\d:[0-5]\d|2[0-3]:[0-5]\d))?\}\}$/

/**
 * A copy of a fixture with its relative dates made absolute:
 * - `{{now}}`, `{{now-PT90M}}`: a moment
 * - `{{today}}`, `{{today+P14D}}`: a date in Berlin
 * - `{{open-day+2}}`: the date of the 2nd open T2 day after today; `{{open-day}}` is today, or the next open day
 * - `{{open-day-5T14:00}}`: the moment of that time in Berlin on that day
 * @throws Error that quotes a text that is no relative date
 */
export function resolveDates<T>(value: T, now: Instant): T {
  if (typeof value === 'string') return (value.startsWith('{{') ? resolveDate(value, now) : value) as T
  if (Array.isArray(value)) return value.map(item => resolveDates(item, now)) as T
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, resolveDates(member, now)])) as T
}

function resolveDate(text: string, now: Instant): string {
  const moment = MOMENT.exec(text)
  if (moment !== null) return formatInstant(now + shift(text, moment[1], moment[2]) * 1000)

  const today = localTime(now, T2.zone).day
  const date = DATE.exec(text)
  if (date !== null) return formatDay(addDays(today, Math.trunc(shift(text, date[1], date[2]) / SECONDS_PER_DAY)))

  const openDay = OPEN_DAY.exec(text)
  if (openDay === null) throw new Error(`${text} is no relative date`)
  const [, sign, days, time] = openDay
  const day = days === undefined ? onOrAfter(T2, today) : addOpenDays(T2, today, Number(`${sign}${days}`))
  return time === undefined ? formatDay(day) : formatInstant(instantOf(day, timeOfDay(time), T2.zone))
}

const SECONDS_PER_DAY = 86_400

/** A signed duration in seconds; none at all is 0. */
function shift(text: string, sign: string | undefined, duration: string | undefined): number {
  if (duration === undefined) return 0
  const seconds = parseDuration(duration)
  if (seconds === undefined) throw new Error(`${text} is no relative date`)
  return sign === '-' ? -seconds : seconds
}

/** The status of a record whose state follows from its times alone. */
const SCHEDULED = '{{schedule}}'

const allAreas: Readonly<Record<string, Area>> = areas

/** Names the kinds of such records. */
function scheduledKinds(): string {
  const scheduled = Object.keys(allAreas).filter(name => allAreas[name]?.stateAt !== undefined)
  return toList(scheduled.map(toNoun), 'or')
}

/**
 * Returns the records of a fixture with absolute dates, and with the states of those that have the status `{{schedule}}`.
 * @throws Error that quotes a text that is no relative date, or names a record without a schedule
 */
export function resolveFixture({ senderName, ...fixture }: Fixture, now: Instant): SeedRecords {
  const resolved = Object.entries(fixture).map(([kind, records]) => {
    if (!Array.isArray(records)) return [kind, resolveDates(records, now)]
    const all = records.map((record, at) => {
      if (Object(record).status !== SCHEDULED) return resolveDates(record, now)
      const { status, ...members } = record
      const dated = resolveDates(members, now)
      const state = ownMember(allAreas, kind)?.stateAt?.(dated, now)
      if (state === undefined)
        throw new Error(`${kind}.${at}.status: ${status} needs the times of a ${scheduledKinds()}`)
      return { ...dated, ...state }
    })
    return [kind, all]
  })
  return Object.fromEntries(resolved)
}

/** Returns a list of allowed origins with the origins of the embedded links of a fixture (decisions §8). */
export function withOriginsOf({ payoutLinks = [] }: SeedRecords, allowedOrigins: readonly string[]): string[] {
  const added = payoutLinks.flatMap(({ uiMode, origin }) =>
    uiMode === 'embedded' && origin !== undefined && !isAllowedOrigin(origin, allowedOrigins) ? [origin] : [],
  )
  return [...allowedOrigins, ...new Set(added)]
}
