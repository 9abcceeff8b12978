/** The sentences of answers that were no refusals. */
import type { ComponentChildren } from 'preact'
import { Fragment } from 'preact'
import { kindOfRecord, RecordLink, referenceOf } from './app.js'
import { counted, formatMoment, paceOf } from './format.js'
import type { Advanced, AnyRecord, Kind } from './types.js'

/** The members of answers that sentences read. */
type Answer = Partial<Record<'now' | 'mode' | 'id' | 'state' | 'outcome' | 'clientId' | 'fixture', string>> &
  Partial<Record<'omitted' | 'rate' | 'removed', number>> & {
    readonly record?: AnyRecord
    readonly transitions?: Advanced['transitions']
    readonly effect?: { readonly kind: string }
    readonly counts?: Readonly<Record<string, number>>
    readonly steps?: readonly { readonly call: string; readonly answer: Answer }[]
  }

/** Counts the transitions of an advance: `7 transitions, 1 RETURNED`. The states that end badly are named. */
export function transitionsOf({ transitions = [], omitted = 0 }: Pick<Answer, 'transitions' | 'omitted'>): string {
  const bad = ['RETURNED', 'REJECTED', 'FAILED'].flatMap(state => {
    const count = transitions.filter(({ to }) => to === state).length
    return count > 0 ? [`${count} ${state}`] : []
  })
  return [counted(transitions.length + omitted, 'transition'), ...bad].join(', ')
}

/** Describes an answer. */
export function sentenceOf(kinds: readonly Kind[], path: string, body: unknown): ComponentChildren {
  const answer = Object(body) as Answer
  const { steps, transitions, now, mode, rate, removed, id, state, clientId, counts } = answer
  if (steps !== undefined) {
    // The last answer on a record tells its state.
    const latest = new Map<string, ComponentChildren>()
    for (const [at, step] of steps.entries()) {
      const found = recordIn(kinds, step.answer)
      latest.set(found ? referenceOf(found.kind, found.record) : `${at}`, sentenceOf(kinds, '', step.answer))
    }
    return [...latest].map(([key, sentence]) => <Fragment key={key}>{sentence} </Fragment>)
  }
  const found = recordIn(kinds, answer)
  const clock = now === undefined ? '' : `The clock shows ${formatMoment(Date.parse(now))}`
  if (found !== undefined) {
    const { kind, record } = found
    const link = <RecordLink kind={kind.name} reference={referenceOf(kind, record)} />
    if (path.endsWith('/outcome')) return <>{link} has a new outcome.</>
    return (
      <>
        {link} {'status' in record ? `is ${record.status}.` : 'is saved.'}
      </>
    )
  }
  if (transitions !== undefined) {
    return `${clock}. ${transitions.length === 0 ? 'Nothing was due.' : `${transitionsOf(answer)} happened.`}`
  }
  if (mode !== undefined) return mode === 'frozen' ? `${clock}, and is frozen.` : `${clock}, and runs ${paceOf(rate)}.`
  if (removed !== undefined) return `Removed: ${removed}.`
  if (id !== undefined) return `${id} is ${state}: ${answer.outcome ?? answer.effect?.kind}.`
  if (counts !== undefined) {
    const sum = Object.values(counts).reduce((all, count) => all + count, 0)
    return `${clientId ?? 'The client'} has ${counted(sum, 'record')}.${clock && ` ${clock}.`}`
  }
  if (path.endsWith('/tokens/expire')) return `All tokens of ${clientId} are expired.`
  return path.endsWith('/settings') ? 'The settings are saved.' : 'Done.'
}

/** Finds the record that an answer has, or undefined if it has none. */
function recordIn(kinds: readonly Kind[], answer: Answer) {
  const record = answer.record ?? (answer as AnyRecord)
  const kind = kindOfRecord(kinds, record)
  return kind && { kind, record }
}
