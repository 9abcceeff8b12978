/** Texts of values: times, amounts, labels, states and causes. */
import { toTitle, toWords } from '../core/words.js'
import type { AnyRecord } from './types.js'

const moments = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'UTC',
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
})
const amounts = new Intl.NumberFormat('en-GB', { minimumFractionDigits: 2, maximumFractionDigits: 2 })

/** Formats an instant in milliseconds, such as `Mon, 2 Nov 2026, 09:00:00 UTC`. */
export const formatMoment = (at: number): string => `${moments.format(at)} UTC`

/** Formats an instant in three parts, such as `Mon, `, `2 Nov 2026, 09:00` and `:00 UTC`. A text that is no instant stays whole. */
export function partsOf(at: string): readonly [string, string, string] {
  const time = Date.parse(at)
  if (Number.isNaN(time)) return ['', at, '']
  const [, day = '', middle = '', end = ''] = /^(\w+, )(.*)(:\d+ UTC)$/.exec(formatMoment(time)) ?? []
  return [day, middle, end]
}

/** Formats the date of an instant, such as `2 Nov 2026`. */
export const formatDate = (at: string): string => partsOf(at)[1].split(',')[0] ?? at

/** Formats an amount, which is a decimal text, exactly. */
export const formatAmount = (amount: unknown, currency: unknown): string =>
  `${amounts.format(String(amount) as `${number}`)} ${currency ?? ''}`.trim()

/** Whether a member of a record is an amount, by its path. */
export const isAmount = (path: string): boolean => /(^|\.|\w+)(amount|balance)$/i.test(path)

/** Writes the path of a member as a label, such as `Debtor IBAN`. The effect of a fault needs no name. */
export function toLabel(path: string): string {
  const words = toWords(path.replace(/^effect\./, '').replaceAll('.', ' '))
  return toTitle(words.replace(/\b(iban|bic|ttl|id|ui)\b/g, name => name.toUpperCase()))
}

/** Counts things: `1 transition`, `2 transitions`. */
export const counted = (count: number, noun: string): string => (count === 1 ? `1 ${noun}` : `${count} ${noun}s`)

/** Returns the member of a value at a path such as `debtor.name`, or undefined if it has none. */
export const memberAt = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((at, name) => (Object.hasOwn(Object(at), name) ? Object(at)[name] : undefined), value)

/** Whether a record has the given members. */
export const hasMembers = (record: AnyRecord, members: AnyRecord): boolean =>
  Object.entries(members).every(([name, value]) => record[name] === value)

/** Describes the pace of a clock, such as `in real time` and `1 hour a second`. */
export function paceOf(rate = 1): string {
  const units = Object.entries({ day: 86_400, hour: 3600, minute: 60, second: 1 })
  const [name, seconds] = units.find(([, seconds]) => rate >= seconds && rate % seconds === 0) ?? ['second', 1]
  return rate === 1 ? 'in real time' : `${counted(rate / seconds, name)} a second`
}

const TONES: ReadonlyMap<string, string> = new Map([
  ...['SETTLED', 'PAID', 'ACTIVE'].map(state => [state, 'good'] as const),
  ...['FAILED', 'REJECTED', 'RETURNED'].map(state => [state, 'bad'] as const),
  ...['CANCELLED', 'EXPIRED', 'spent', 'expired'].map(state => [state, 'idle'] as const),
])

/** Returns the colour of a state: it ends well, badly or without effect, or is under way. */
export const toneOf = (state: string): string => TONES.get(state) ?? 'open'

const CAUSES: ReadonlyMap<string, string> = new Map([
  ['api', 'API'],
  ['control', 'control plane'],
])

/** Names the cause of a transition. */
export const causeOf = (cause: string): string => CAUSES.get(cause) ?? cause
