import type { StatefulStore } from '../../areas/index.js'
import type { Event } from '../../core/records/events.js'
import type { Explained } from '../../core/records/stateful-repository.js'
import { formatInstant } from '../../core/time/time.js'
import { escapeControls } from '../../core/words.js'
import type { Tenant } from '../../tenants/tenant.js'
import type { Kind } from '../kinds/names.js'
import { kinds } from '../kinds/names.js'
import type { LoggedExchange } from '../request-log/exchange.js'

/** The most records that are explained. */
const MOST_RECORDS = 20
/** The most events of the document. */
const MOST_EVENTS = 1000
/** The most requests and transitions of the summary. */
const MOST_LINES = 20
/** The longest line of the summary. */
const LONGEST_LINE = 300

/** The explanation of a record that requests mention. */
interface Mentioned extends Explained<{ readonly status?: string; readonly reasonCode?: string }> {
  readonly kind: string
  readonly reference: string
}

/**
 * Returns the evidence of a client, for a test that has failed.
 * @param requests the requests of its log
 * @param publicUrl the address of the server for the reader
 */
export function evidenceOf(tenant: Tenant, requests: readonly LoggedExchange[], publicUrl: string) {
  const { clock, clientId } = tenant
  const events = tenant.events.after(Math.max(0, tenant.events.last() - MOST_EVENTS))
  const records = mentionedIn(requests, events, tenant, publicUrl)
  const facts = { clientId, now: formatInstant(clock.now()), requests, events, records }
  return { summary: summarize(facts, clock.mode() === 'frozen'), ...facts }
}

/** Returns the explanations of the records that requests mention, ordered by their latest event. */
function mentionedIn(
  requests: readonly LoggedExchange[],
  events: readonly Event[],
  tenant: Tenant,
  publicUrl: string,
): Mentioned[] {
  const text = JSON.stringify(requests.map(({ path, body, responseBody }) => [path, body, responseBody]))
  const latest = new Map(events.toReversed().map(event => [`${event.kind} ${event.reference}`, event]))
  const mentioned = [...latest.values()].filter(({ reference }) => text.includes(reference)).slice(0, MOST_RECORDS)
  return mentioned.flatMap(({ kind, reference }) => {
    const { name } = kinds.find(each => each.kind === kind) as Kind
    const store = tenant[name] as unknown as StatefulStore
    // Bills of two regions can have one reference: each is explained.
    return store.find(reference).map(({ region }) => {
      const explained = store.explain(reference, publicUrl, region) as Explained<Mentioned['record']>
      return { kind, reference, ...explained }
    })
  })
}

interface Facts {
  readonly clientId: string
  readonly now: string
  readonly requests: readonly LoggedExchange[]
  readonly events: readonly Event[]
  readonly records: readonly Mentioned[]
}

/** Returns the evidence in some lines. */
function summarize({ clientId, now, requests, events, records }: Facts, isFrozen: boolean): string {
  const failure = requests.findLast(({ status }) => status === null || status >= 400)
  const steps = records.flatMap(({ kind, reference, next }) =>
    next === null ? [] : [`${next.at} ${kind} ${reference} becomes ${next.to}`],
  )
  const hint = steps.length > 0 && isFrozen ? ['The clock is frozen: advance it, so that they happen.'] : []
  const sections: [title: string, lines: readonly string[]][] = [
    ['Last failure', failure === undefined ? [] : [lineOf(failure), ...detailsOf(failure)]],
    [latest('Requests', requests), requests.slice(-MOST_LINES).map(lineOf)],
    [latest('Transitions', events), events.slice(-MOST_LINES).map(transitionOf)],
    ['Records', records.map(({ kind, reference, record }) => `${kind} ${reference} is ${stateOf(record)}`)],
    ['Next', [...steps.sort(), ...hint]],
  ]
  const text = sections.map(([title, lines]) =>
    [title, ...(lines.length > 0 ? lines : ['none']).map(indented)].join('\n'),
  )
  return `${[`Client ${clientId}, ${now}${isFrozen ? ', the clock is frozen' : ''}`, ...text].join('\n\n')}\n`
}

const latest = (title: string, { length }: readonly unknown[]) =>
  length > MOST_LINES ? `${title}: the latest ${MOST_LINES} of ${length}` : title

const indented = (line: string) => `  ${escapeControls(line, '').slice(0, LONGEST_LINE)}`

const lineOf = ({ seq, method, path, status, responseBody }: LoggedExchange) =>
  [`#${seq} ${method} ${path} -> ${status ?? 'no answer'}`, Object(responseBody).code ?? ''].join(' ').trimEnd()

/** Returns the reasons of a failure: the message, hints and faults of the request. */
function detailsOf({ responseBody, hints, faults }: LoggedExchange): string[] {
  const { message, field } = Object(responseBody)
  return [
    ...(message === undefined ? [] : [field && !message.startsWith(field) ? `${field}: ${message}` : message]),
    ...hints.map(hint => `hint: ${hint}`),
    ...faults.map(({ id, kind }) => `${id} fired: ${kind}`),
  ]
}

const transitionOf = ({ at, kind, reference, from, to, reasonCode, cause }: Event) =>
  `${at} ${kind} ${reference}: ${from ?? 'new'} -> ${stateOf({ status: to, reasonCode })}, by ${cause}`

const stateOf = ({ status, reasonCode }: { status?: string | undefined; reasonCode?: string | undefined }) =>
  [status, reasonCode].filter(Boolean).join(' ')
