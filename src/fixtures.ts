import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { addOpenDays, onOrAfter, T2 } from './core/business-days.js'
import { parseDuration } from './core/duration.js'
import type { Instant } from './core/time.js'
import { addDays, formatInstant, localDate } from './core/time.js'

/** A named world as its file has it: records in the shape of `POST /_sandbox/seed`, dates still relative. */
export type Fixture = Readonly<Record<string, unknown>>

export type Fixtures = ReadonlyMap<string, Fixture>

/**
 * Reads all fixtures of a folder; `empty` is always there.
 * @throws Error that names the file which is no JSON object, or the folder that cannot be read
 */
export function loadFixtures(folder: string): Fixtures {
  const fixtures = new Map<string, Fixture>([['empty', {}]])
  for (const file of readdirSync(folder).sort()) {
    if (!file.endsWith('.json')) continue
    fixtures.set(file.slice(0, -'.json'.length), parse(join(folder, file)))
  }
  return fixtures
}

function parse(path: string): Fixture {
  let value: unknown
  try {
    value = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new Error(`${path} is not JSON: ${(error as Error).message}`)
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new Error(`${path} is not a JSON object`)
  return value as Fixture
}

const TEMPLATE = /^\{\{(now|today|open-day)(?:([+-])(\w+))?\}\}$/

/**
 * A copy of a fixture with its relative dates made absolute:
 * `{{now}}`, `{{now-PT90M}}` (a moment), `{{today+P14D}}` (a date), `{{open-day+2}}` (the 2nd open T2 day after today;
 * `{{open-day}}` is today, or the next open day).
 * @throws Error that quotes what is no relative date
 */
export function resolveDates<T>(value: T, now: Instant): T {
  if (typeof value === 'string') return (value.startsWith('{{') ? resolveDate(value, now) : value) as T
  if (Array.isArray(value)) return value.map(item => resolveDates(item, now)) as T
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, resolveDates(member, now)])) as T
}

function resolveDate(text: string, now: Instant): string {
  const wrong = new Error(`${text} is no relative date`)
  const [, base, sign, amount] = TEMPLATE.exec(text) ?? []
  const direction = sign === '-' ? -1 : 1
  const today = localDate(now, T2.zone)
  if (base === 'open-day') {
    if (amount === undefined) return onOrAfter(T2, today)
    if (!/^\d{1,4}$/.test(amount)) throw wrong
    return addOpenDays(T2, today, direction * Number(amount))
  }
  const seconds = amount === undefined ? 0 : parseDuration(amount)
  if (base === undefined || seconds === undefined) throw wrong
  return base === 'now'
    ? formatInstant(now + direction * seconds * 1000)
    : addDays(today, direction * Math.floor(seconds / 86_400))
}
