import { isSame } from '../core/digests.js'
import { toNoun } from '../core/words.js'
import type { Tenant } from '../tenants/tenant.js'
import type { AnyRecord } from './kinds.js'
import { findRecord, kindOfRecord, pageOf, referenceOf } from './kinds.js'
import { formatMoment } from './moments.js'
import type { Page } from './page.js'
import { LONGEST_TEXT } from './page.js'

/** Signs the notice of an action, so that no link can put a text into a page. */
export const proofOf = ({ ids, clientId }: Tenant, notice: string): string =>
  // A fork has the ids of its origin.
  ids.sign('consoleNotice', JSON.stringify([clientId, notice]))

/** Returns the notice of a page; undefined: it has none. */
export function noticeOf({ tenant, query: { notice, proof = '' } }: Page): string | undefined {
  return notice !== undefined && isSame(proof, proofOf(tenant, notice)) ? notice : undefined
}

/** Cuts a notice at a word, so that a page takes it. A link has no space. */
export const cut = (notice: string): string =>
  notice.length > LONGEST_TEXT ? `${notice.slice(0, notice.lastIndexOf(' ', LONGEST_TEXT - 2))} …` : notice

/** A link in a notice: `[text](path below the console)`, or `[client](its page?client)`. */
export const LINK = /\[([\w-]+)\]\((\/[\w/-]+)(\?client)?\)/

/** Returns a text of the app for a notice: it makes no link. */
export const plain = (text: string): string => text.replaceAll('](', '] (')

/** The members of answers that notices read. */
type Answer = Partial<Record<'now' | 'mode' | 'id' | 'state' | 'outcome' | 'clientId', string>> &
  Partial<Record<'omitted' | 'rate' | 'removed', number>> & {
    readonly record?: AnyRecord
    readonly transitions?: readonly unknown[]
    readonly effect?: { readonly kind: string }
    readonly counts?: Readonly<Record<string, number>>
    readonly steps?: readonly { readonly call: string; readonly answer: Answer }[]
  }

/**
 * Describes the answer of a call that was not refused.
 * @param operation the operationId of the call
 * @param tenant has the records of a scenario, as they are at its end
 */
export function sentenceOf(operation: string, body: object, tenant: Tenant): string {
  const { record = body, transitions, now, mode, rate, removed, id, state, clientId, counts, steps } = body as Answer
  const { effect, outcome = effect?.kind } = body as Answer
  if (steps !== undefined) {
    const sentences = new Map(
      steps.map(({ call, answer }) => [nameOf(answer) ?? call, sentenceOf(call, atTheEnd(answer, tenant), tenant)]),
    )
    return [...sentences.values()].join(' ')
  }
  const name = nameOf(record)
  const clock = now === undefined ? '' : `The clock shows ${formatMoment(Date.parse(now))}`
  if (name !== undefined && /^set\w+Outcome$/.test(operation))
    return `${name} has the outcome ${(record as AnyRecord).outcome}.`
  // The state can be another one when the notice is read.
  if (name !== undefined) return 'status' in record ? `${name} became ${record.status}.` : `${name} is saved.`
  if (transitions !== undefined) return `${clock}. ${happened(transitionsOf(body))}`
  if (mode !== undefined) return mode === 'frozen' ? `${clock}, and is frozen.` : `${clock}, and runs ${paceOf(rate)}.`
  if (removed === 0 && operation === 'removeClient') return 'The client is reset.'
  if (removed !== undefined) return `Removed: ${counted(removed, toNoun(operation.replace(/^[a-z]+/, '')).trim())}.`
  if (id !== undefined) return `${id} is ${state}: ${outcome}.`
  if (counts !== undefined) return `${clientId ?? 'The client'} has ${sum(counts)} records.${clock && ` ${clock}.`}`
  if (clientId !== undefined)
    return clock === '' ? `${linkOf(clientId, '/client?client')} exists.` : `All tokens of ${clientId} are expired.`
  return SENTENCES[operation] ?? 'Done.'
}

/** Returns the answer of a step of a scenario with its record as it is at the end: later steps and time move it. */
function atTheEnd(answer: Answer, tenant: Tenant): Answer {
  const record = recordOf(answer)
  const kind = kindOfRecord(record)
  const found = kind && findRecord(tenant, kind, referenceOf(kind, record))
  return found === undefined ? answer : { ...answer, record: found.record }
}

const recordOf = (answer: Answer): AnyRecord => answer.record ?? (answer as AnyRecord)

/** The sentences of calls whose answers name nothing. */
const SENTENCES: Readonly<Record<string, string>> = {
  updateSettings: 'The settings are saved.',
  replaceDeprecations: 'The list of deprecations is saved.',
}

/** Returns a link to the record that an answer has; undefined: it has none. */
function nameOf(answer: Answer): string | undefined {
  const record = recordOf(answer)
  const kind = kindOfRecord(record)
  if (kind === undefined) return undefined
  const reference = referenceOf(kind, record)
  return linkOf(reference, String(pageOf(kind, reference)))
}

/** Returns a link, or its text if no link can have it. */
function linkOf(text: string, path: string): string {
  const link = `[${text}](${path})`
  return LINK.exec(link)?.[0] === link ? link : plain(text)
}

/** Counts the transitions that an answer reports. */
export function transitionsOf(body: object): number {
  const { transitions, omitted = 0, steps = [] } = body as Answer
  // The explanation of a record omits events, too.
  const own = transitions === undefined ? 0 : transitions.length + omitted
  return steps.reduce((count, { answer }) => count + transitionsOf(answer), own)
}

const sum = (counts: Readonly<Record<string, number>>) => Object.values(counts).reduce((all, count) => all + count, 0)
export const counted = (count: number, noun: string) => (count === 1 ? `1 ${noun}` : `${count} ${noun}s`)
const happened = (count: number) => (count === 0 ? 'Nothing was due.' : `${counted(count, 'transition')} happened.`)

/** Describes the pace of a clock, such as `in real time` and `1 hour a second`. */
export function paceOf(rate = 1): string {
  const units = Object.entries({ day: 86_400, hour: 3600, minute: 60, second: 1 })
  const [name, seconds] = units.find(([, seconds]) => rate >= seconds && rate % seconds === 0) ?? ['second', 1]
  const count = rate / seconds
  return rate === 1 ? 'in real time' : `${count} ${name}${count === 1 ? '' : 's'} a second`
}
