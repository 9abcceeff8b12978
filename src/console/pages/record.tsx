/** One record: its state with the reason, its thread on one axis of time, its legal moves, and the record itself. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { toTitle } from '../../core/words.js'
import { addressOf } from '../../sandbox/request-log/address.js'
import { eventKindOf, isOfRecord, kindNamed, pageOf, RecordLink, referenceOf, useApp, useOwn } from '../app.js'
import { causeOf, formatMoment, hasMembers, isAmount, partsOf } from '../format.js'
import type { Action } from '../forms.js'
import { Actions, Form } from '../forms.js'
import { LifecycleDrawing } from '../lifecycle.js'
import type { Option } from '../parts.js'
import { Card, Choice, Facts, HttpStatus, Json, Refused, Status, Time, Value } from '../parts.js'
import { formFor } from '../schema.js'
import { threadOf } from '../thread.js'
import type { AnyRecord, Explained, Found, Kind, Legal, LoggedRequest, Outcome, SentCall } from '../types.js'
import { NONE, RecordTable, useEndings } from './records.js'
import { Cause, isOfConsole } from './requests.js'

const MOST_REQUESTS = 100
const MOST_RELATED = 20
const YEAR_MS = 366 * 86_400_000

interface RecordProps {
  readonly kind: Kind
  readonly reference: string
}

/** Finds the record of an address. Where several regions have the reference, a person chooses. */
export function Record({ kind, reference }: RecordProps) {
  const { address } = useApp()
  const { region } = address.query
  const query = new URLSearchParams({ search: reference, ...(region && { region }) })
  const needsList = kind.lifecycle === undefined || kind.regions !== 'EU'
  const { data: list } = useOwn<{ data: Found[] }>(needsList ? `/_sandbox/${kind.path}?${query}` : undefined)
  const found = list?.data.filter(({ record }) => referenceOf(kind, record) === reference) ?? []
  if (needsList && list === undefined) return null
  if (found.length > 1) {
    return (
      <Card id="choice" title={`Records of ${found.length} regions have this reference`}>
        <RecordTable kind={kind} rows={found} empty="" />
      </Card>
    )
  }
  const [only] = found
  if (kind.lifecycle === undefined) {
    if (only === undefined) return <Missing kind={kind} reference={reference} />
    return (
      <>
        <Thread kind={kind} reference={reference} />
        <Related kind={kind} record={only.record} region={only.region} />
        <TheRecord record={only.record} />
      </>
    )
  }
  return <Stateful kind={kind} reference={reference} region={only?.region ?? region} />
}

const Missing = ({ kind, reference }: RecordProps) => (
  <Card id="missing" title="Not found">
    <p>{`The client has no ${kind.noun} ${reference}.`}</p>
  </Card>
)

function Stateful({ kind, reference, region }: RecordProps & { region: string | undefined }) {
  const { reasonOf } = useApp()
  const isApart = kind.regions === 'apart' && region !== undefined
  const path = `/_sandbox/${kind.path}/${encodeURIComponent(reference)}`
  const { data, error } = useOwn<Explained>(isApart ? `${path}?region=${region}` : path)
  if (error?.status === 404) return <Missing kind={kind} reference={reference} />
  if (error) return <Refused error={error} />
  if (data === undefined || kind.lifecycle === undefined) return null
  const { record } = data
  const amount = Object.keys(record).find(isAmount)
  const reason = typeof record.reasonCode === 'string' ? reasonOf(record.reasonCode) : undefined
  const outcomes = data.outcomes ?? []
  return (
    <>
      <p class="headline">
        <Status of={String(record.status)} />
        {amount && (
          <strong>
            <Value record={record} path={amount} />
          </strong>
        )}
        {reason && <strong class="cause">{reason}</strong>}
        {data.failed && <strong class="cause">{data.failed}</strong>}
      </p>
      <Sensible kind={kind} explained={data} />
      <Card id="lifecycle" title="Lifecycle">
        <LifecycleDrawing id="drawing" lifecycle={kind.lifecycle} explained={data} />
      </Card>
      <div class="columns">
        <Thread kind={kind} reference={reference} explained={data} />
        <div>
          <Moves kind={kind} explained={data} region={region} />
          {(outcomes.length > 0 || record.outcome !== undefined) && (
            <OutcomeCard path={path} record={record} outcomes={outcomes} />
          )}
          <Related kind={kind} record={record} region={region} />
          <TheRecord record={record} />
        </div>
      </div>
    </>
  )
}

/** The next sensible action. */
function Sensible({ kind, explained: { record, next } }: { kind: Kind; explained: Explained }) {
  const { clock, kinds, href } = useApp()
  const isOpenLink = typeof record.url === 'string' && record.status === 'ACTIVE'
  const isBad = ['FAILED', 'RETURNED', 'REJECTED'].includes(String(record.status))
  const isSoon = next !== null && Date.parse(next.at) - Date.parse(clock?.now ?? '') < YEAR_MS
  // A mandate that is ACTIVE is there for collections.
  const users = kinds.flatMap(user =>
    user.names
      .filter(({ name, accepts }) => name === kind.name && user.isCreated && hasMembers(record, accepts))
      .map(({ member }) => ({ user, query: { [member]: referenceOf(kind, record) } })),
  )
  if (next === null && isBad && kind.isCreated) users.push({ user: kind, query: {} })
  return (
    <div class="actions">
      {isOpenLink && (
        <a class="button" href={String(record.url)} target="_blank" rel="noreferrer">
          Open the page
        </a>
      )}
      {isSoon && (
        <Form
          id="to-next"
          label={`Advance to ${next.to}, ${partsOf(next.at)[1]}`}
          call={{ method: 'POST', path: '/_sandbox/clock/advance', body: { to: next.at } }}
          look={isOpenLink ? 'plain' : 'primary'}
        />
      )}
      {users.map(({ user, query }) => (
        <a key={user.name} class="button" href={href(`${pageOf(user)}/new`, query)}>{`New ${user.noun}`}</a>
      ))}
    </div>
  )
}

interface ThreadProps extends RecordProps {
  readonly explained?: Explained
}

/** One axis of time: the requests that named the record, its transitions with their causes, the present, and the forecast. */
function Thread({ kind, reference, explained }: ThreadProps) {
  const { clock, href, reasonOf } = useApp()
  const query = new URLSearchParams({ reference, limit: `${MOST_REQUESTS}` })
  const { data } = useOwn<{ data: LoggedRequest[] }>(`/_sandbox/requests?${query}`)
  const named = data?.data.filter(({ records }) =>
    records.some(one => one.kind === eventKindOf(kind) && one.reference === reference),
  )
  const events = explained?.timeline.filter(event => isOfRecord(event, kind, reference)) ?? []
  const past = threadOf(named ?? [], events)
  const { next = null, legal = [], forecast = [], omitted = 0 } = explained ?? {}
  return (
    <Card id="thread" title="Thread">
      {omitted > 0 && <p class="hint">{omitted} earlier transitions are left out.</p>}
      <ol class="thread">
        {past.map(entry =>
          'request' in entry ? (
            <li key={`request-${entry.request.seq}`} class="request">
              <Time at={entry.at} />
              <div>
                <a href={href(`/requests/${entry.request.seq}`)}>
                  <b>{entry.request.method}</b> {addressOf(entry.request)}
                </a>{' '}
                <HttpStatus of={entry.request.status} />
                {isOfConsole(entry.request) && <span class="hint"> console</span>}
                <Cause of={entry.request} />
                {entry.request.faults.map(({ id, kind }) => (
                  <p key={id} class="hint">{`fault ${id}: ${kind}`}</p>
                ))}
                <p class="hint">received {formatMoment(Date.parse(entry.request.receivedAt))}</p>
              </div>
            </li>
          ) : (
            <li key={`event-${entry.event.seq}`} class="event">
              <Time at={entry.at} />
              <div>
                <Status of={entry.event.to} />{' '}
                <span>
                  by {causeOf(entry.event.cause)}
                  {entry.event.reasonCode && <b class="cause"> {reasonOf(entry.event.reasonCode)}</b>}
                </span>
              </div>
            </li>
          ),
        )}
        {clock && (
          <li class="present" aria-current="time">
            <Time at={clock.now} />
            <div>
              <b>Now</b>
              {explained && next === null && <span> {endOf(explained.record, legal)}</span>}
            </div>
          </li>
        )}
        {forecast.map(step => (
          <li key={`step-${step.to}`} class="step">
            <Time at={step.at} />
            <div>
              <Status of={step.to} />{' '}
              <span>
                by {causeOf(step.cause)}
                {step.reasonCode && <b class="cause"> {reasonOf(step.reasonCode)}</b>}
              </span>
            </div>
          </li>
        ))}
      </ol>
    </Card>
  )
}

/** Says why nothing comes. */
function endOf({ outcome, status }: AnyRecord, legal: readonly Legal[]): string {
  if (legal.length === 0) return 'The state is final.'
  if (String(outcome) === `STUCK-${status}`) return `Its outcome is to stay ${status} until you move it.`
  return 'Nothing happens by itself.'
}

interface MovesProps {
  readonly kind: Kind
  readonly explained: Explained
  readonly region: string | undefined
}

/** The legal moves, each with the state that it leads to. A move with several time limits is one form, with all its codes. */
function Moves({ kind, explained: { legal, record }, region }: MovesProps) {
  const { reasonOf } = useApp()
  if (legal.length === 0) return null
  const moves = new Map(legal.map(move => [`${move.transition} ${move.to}`, move]))
  const actions = [...moves.values()].flatMap(({ transition, to }): Action[] => {
    const row = kind.lifecycle?.operations.find(one => one.transition === transition)
    if (row === undefined) return []
    const codes = legal
      .filter(move => move.transition === transition && move.to === to)
      .flatMap(({ reasonCodes = [], until }) =>
        reasonCodes.map((code): Option => {
          const name = reasonOf(code)
          return [code, until ? `${name}, until ${formatMoment(Date.parse(until))}` : name]
        }),
      )
    const form = formFor(record, row.forms)
    const [first] = codes
    const { body, fields } = first === undefined ? form : { body: { reasonCode: first[0] }, fields: ['reasonCode'] }
    const target = row.path.replace(/\{\w+\}/, encodeURIComponent(referenceOf(kind, record)))
    // An update of the API has the region in its header.
    const isApi = target.startsWith('/api/')
    const path = kind.regions === 'apart' && !isApi ? `${target}?region=${region}` : target
    return [
      {
        id: `move-${transition}`,
        label: `${row.label} → ${to}`,
        call: { method: row.method, path, body, ...(isApi && { region: region ?? 'EU' }) },
        ...(fields.length > 0 && { fields }),
        choices: { reasonCode: codes },
      },
    ]
  })
  return (
    <Card id="moves" title="Move it now">
      <Actions actions={actions.filter(({ fields = [] }) => fields.length < 2)} />
      {actions
        .filter(({ fields = [] }) => fields.length > 1)
        .map(action => (
          <details key={action.id} class="fold">
            <summary class="button plain">{action.label} …</summary>
            <Form {...action} />
          </details>
        ))}
    </Card>
  )
}

interface OutcomeProps {
  readonly path: string
  readonly record: AnyRecord
  readonly outcomes: readonly Outcome[]
}

/** The outcome of a record, and those that it can still have. */
function OutcomeCard({ path, record, outcomes }: OutcomeProps) {
  const endingsOf = useEndings()
  const sim = /^SIM-(.+)/.exec(String(record.debtorReference ?? ''))?.[1]
  const given = (record.outcome as string | undefined) ?? sim
  const present = outcomes.some(({ outcome }) => outcome === given) ? (given as string) : ''
  const [chosen, setChosen] = useState<string>()
  const outcome = chosen ?? present
  const call: SentCall = { method: 'PUT', path: `${path}/outcome`, body: { outcome: outcome === '' ? null : outcome } }
  return (
    <Card id="outcome" title="Outcome">
      <p>{given === undefined ? 'None is chosen: it follows its usual course.' : `Chosen: ${given}.`}</p>
      {outcomes.length > 0 && (
        <>
          <Choice
            id="ending"
            label="How it ends"
            options={[NONE, ...endingsOf(outcomes)]}
            value={outcome}
            onChange={setChosen}
            hint={outcomes.find(one => one.outcome === outcome)?.description}
          />
          <Actions actions={[{ id: 'choose', label: 'Choose', call }]} />
        </>
      )}
    </Card>
  )
}

interface RelatedProps {
  readonly kind: Kind
  readonly record: AnyRecord
  readonly region: string | undefined
}

/** The records that a record names, and those that name it. */
function Related({ kind, record, region }: RelatedProps) {
  const { kinds } = useApp()
  const reference = referenceOf(kind, record)
  const lists = kinds.filter(({ names }) => names.some(({ name }) => name === kind.name))
  const q = new URLSearchParams({ q: reference, limit: `${MOST_RELATED * 2}` })
  const { data } = useOwn<{ data: Found[] }>(lists.length > 0 ? `/_sandbox/search?${q}` : undefined)
  const facts = kind.names.flatMap(({ name, member }): [string, ComponentChildren][] => {
    const other = kindNamed(kinds, name)
    const named = record[member]
    if (other === undefined || typeof named !== 'string') return []
    return [[toTitle(other.noun), <RecordLink key={name} kind={name} reference={named} region={region} />]]
  })
  if (facts.length === 0 && lists.length === 0) return null
  return (
    <Card id="related" title="Related">
      <Facts facts={facts} />
      {lists.map(other => {
        const rows = (data?.data ?? []).filter(
          one => kindNamed(kinds, one.kind)?.name === other.name && one.record[kind.reference] === reference,
        )
        return (
          <RecordTable
            key={other.name}
            kind={{ ...other, columns: other.columns.slice(0, 2) }}
            rows={rows.slice(0, MOST_RELATED)}
            empty={`No ${other.noun} names this ${kind.noun} yet.`}
          />
        )
      })}
    </Card>
  )
}

/** The record as the API answers it. */
const TheRecord = ({ record }: { record: AnyRecord }) => (
  <Card id="record" title="Record">
    <Json label="the record" value={record} />
  </Card>
)
