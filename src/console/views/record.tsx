import type { TObject } from '@sinclair/typebox'
import type { ComponentChildren } from 'preact'
import { Fragment } from 'preact'
import { outcomeOf } from '../../areas/direct-debit/outcomes.js'
import { findReasonCode } from '../../areas/direct-debit/reason-codes.js'
import type { SteeredStore, TransitionForm } from '../../areas/index.js'
import { halfOf } from '../../core/domain/money.js'
import type { Region } from '../../core/domain/regions.js'
import { regionOf } from '../../core/domain/regions.js'
import { errors } from '../../core/errors.js'
import type { LegalTransition } from '../../core/records/lifecycle.js'
import type { Explained } from '../../core/records/stateful-repository.js'
import { toTitle, toWords } from '../../core/words.js'
import { Card, Facts } from '../../http/pages/parts.js'
import { exampleOf } from '../../tenants/examples.js'
import { control } from '../calls.js'
import type { AnyRecord, Kind, Row } from '../kinds.js'
import { explain, findRecord, findRecords, isNaming, kinds, referenceOf } from '../kinds.js'
import { formatMoment } from '../moments.js'
import type { Page } from '../page.js'
import { href } from '../page.js'
import type { Action } from './forms.js'
import { Actions } from './forms.js'
import { LifecycleDrawing } from './lifecycle.js'
import { causeOf, Json, Pager, Status, TableCard, Time, Value } from './parts.js'
import { linkTo, RecordTable } from './records.js'

interface RecordProps {
  readonly page: Page
  readonly kind: Kind
  readonly explained: Explained<AnyRecord>
}

export const titleOf = (page: Page, { noun }: Kind) => `${toTitle(noun)} ${page.params.reference}`

/** One record, with its reference and region in the address. */
export function OneRecord({ page, kind }: { page: Page; kind: Kind }) {
  const { tenant, params, query } = page
  const reference = params.reference as string
  const [found, ...others] = findRecords(tenant, kind, reference, query.region)
  if (found !== undefined && others.length > 0) {
    return (
      <>
        <p>Records of {others.length + 1} regions have this reference.</p>
        <RecordTable page={page} kind={kind} rows={[found, ...others]} empty="" />
      </>
    )
  }
  if (kind.lifecycle === undefined) {
    if (found === undefined) throw errors.recordNotFound(kind.notFound, kind.reference, kind.noun, reference)
    return (
      <>
        <Related page={page} kind={kind} row={found} />
        <Members kind={kind} record={found.record} json={found} />
      </>
    )
  }
  const explained = explain(page, kind, reference, query.region)
  const { record } = explained
  const amount = ['amount', 'totalAmount'].find(name => name in record)
  return (
    <>
      <p class="headline">
        <Status of={String(record.status)} />
        {amount && (
          <strong>
            <Value kind={kind} record={record} path={amount} />
          </strong>
        )}
        {kind.name === 'payoutLinks' && <PageLink record={record} />}
      </p>
      <Card id="lifecycle" title="Lifecycle">
        <LifecycleDrawing id="drawing" lifecycle={kind.lifecycle} status={String(record.status)} {...explained} />
      </Card>
      <div class="columns">
        <Card id="comes" title="What comes next">
          <Comes {...explained} />
          <Moves page={page} kind={kind} explained={explained} />
        </Card>
        <Timeline page={page} kind={kind} />
      </div>
      <Outcome page={page} kind={kind} record={record} />
      <Related page={page} kind={kind} row={{ region: regionOfRecord(record), record }} />
      <Members kind={kind} record={record} json={explained} />
    </>
  )
}

const MOST_EVENTS = 50

/** The latest events of a record, oldest first, and the way to older ones. */
function Timeline({ page, kind }: { page: Page; kind: Kind }) {
  const { tenant, params, query, path } = page
  const { region, cursor } = query
  const { timeline = [] } = findRecord(tenant, kind, params.reference as string, region) ?? {}
  const { events, omitted } = tenant.events.latestOf(timeline, MOST_EVENTS, cursor ? Number(cursor) : undefined)
  return (
    <TableCard
      id="timeline"
      title="Timeline"
      columns={[
        ['State', ({ to }) => <Status of={to} />],
        ['At', ({ at }) => <Time at={at} />],
        ['Why', event => causeOf(event) + (event.reasonCode ? `, ${nameOf(event.reasonCode)}` : '')],
      ]}
      rows={events}
      keyOf={({ seq }) => `event-${seq}`}
      empty="The record came with a fixture, and has not changed since."
    >
      <Pager
        links={{
          Newest: cursor !== undefined && href(page, path, { region }),
          Older: omitted > 0 && href(page, path, { region, cursor: String(events[0]?.seq) }),
        }}
      />
    </TableCard>
  )
}

const regionOfRecord = ({ currency = 'EUR' }: AnyRecord): Region => regionOf(currency as 'EUR')

/** A reason code with its name, such as `AM04 insufficient funds`. */
const nameOf = (code: string) => `${code} ${toWords(findReasonCode(code)?.name ?? '').trim()}`

/** Says what comes next, and why. */
function Comes({ record, next, legal, failed }: Explained<AnyRecord>) {
  const { status } = record
  if (failed !== undefined) return <p>The transition was due, and failed. {failed}</p>
  const outcome = outcomeOf(record as { outcome?: string })
  if (next === null) {
    if (legal.length === 0) return <p>Nothing: the state is final.</p>
    const stuckIn = outcome?.stuckIn ?? String(record.outcome ?? '').replace('STUCK-', '')
    if (stuckIn === status) return <p>Nothing: its outcome is to stay {stuckIn} until you move it.</p>
    return <p>Nothing happens by itself.</p>
  }
  const isChosen = outcome?.from === status || (outcome === undefined && record.outcome === 'FAILED')
  return (
    <p>
      <Status of={next.to} /> on <Time at={next.at} />:{' '}
      {isChosen ? `by its outcome ${outcome?.outcome ?? 'FAILED'}. ${outcome?.description ?? ''}` : 'as time passes.'}
    </p>
  )
}

function PageLink({ record }: { record: AnyRecord }) {
  const look = record.status === 'ACTIVE' ? 'button' : 'button plain'
  return (
    <a class={look} href={String(record.url)} target="_blank" rel="noreferrer">
      Open the page
    </a>
  )
}

/** The legal moves, each with the state that it leads to. */
function Moves({ page, kind, explained: { record, legal } }: RecordProps) {
  if (legal.length === 0) return null
  // A transition whose reason codes have several time limits is one form, with all its codes.
  const moves = new Map(legal.map(move => [`${move.verb} ${move.to}`, move]))
  return (
    <>
      <h3>Move it now</h3>
      <Actions
        page={page}
        id="moves"
        actions={[...moves.values()].map(({ verb, to }) => ({
          id: `move-${verb}`,
          label: `${toTitle(toWords(verb))} → ${to}`,
          ...moveOf(
            page,
            kind,
            record,
            legal.filter(move => move.verb === verb && move.to === to),
          ),
        }))}
      />
    </>
  )
}

/** Returns the call of a move with its fields. */
function moveOf(
  page: Page,
  kind: Kind,
  record: AnyRecord,
  limits: readonly LegalTransition[],
): Omit<Action, 'id' | 'label'> {
  const { verb } = limits[0] as LegalTransition
  const params = { [kind.reference]: referenceOf(kind, record) }
  const path = `${kind.calls}/:${kind.reference}`
  const move = kind.lifecycle?.transitions[verb]
  if (move !== undefined && 'update' in move) {
    const { body, fields } = filled(move.update, record)
    return { call: { route: `PATCH /api/v1${path}`, params, region: regionOfRecord(record), body }, fields }
  }
  const reasons = limits.flatMap(({ reasonCodes = [], until }) =>
    reasonCodes.map(
      code => [code, until ? `${nameOf(code)}, until ${formatMoment(Date.parse(until))}` : nameOf(code)] as const,
    ),
  )
  const [first] = reasons
  const { body, fields } =
    first !== undefined
      ? { body: { reasonCode: first[0] }, fields: ['reasonCode'] }
      : (formFor(record, move?.forms) ?? exampleForm(page, move?.body))
  return {
    call: control(`POST ${path}/${verb}`, body, params),
    fields,
    choices: { reasonCode: reasons },
    isFolded: fields.length > 1,
  }
}

/** Returns a form with the values of a record. */
const filled = ({ body, from = {}, half = {}, fields }: TransitionForm, record: AnyRecord) => {
  const given = Object.entries(from).filter(([, member]) => record[member] !== undefined)
  const members = given.map(([name, member]) => [name, record[member]])
  const halves = Object.entries(half).map(([name, member]) => [name, halfOf(String(record[member]))])
  return { body: { ...body, ...Object.fromEntries([...members, ...halves]) }, fields }
}

/** Returns the first form that fits a record. */
function formFor(record: AnyRecord, forms: readonly TransitionForm[] = []) {
  const form = forms.find(({ when = {} }) => Object.entries(when).every(([name, value]) => record[name] === value))
  return form && filled(form, record)
}

/** Returns the form of a body that begins with its example: the members that it has or requires. */
function exampleForm({ tenant, realNow }: Page, schema: TObject | undefined): Omit<TransitionForm, 'from'> {
  if (schema === undefined) return { body: {}, fields: [] }
  const body = exampleOf(tenant, realNow, schema) as Readonly<Record<string, unknown>>
  return { body, fields: [...new Set([...(schema.required ?? []), ...Object.keys(body)])] }
}

/** The outcome of a record, and those that it can still have. */
function Outcome({ page, kind, record }: { page: Page; kind: Kind; record: AnyRecord }) {
  if (kind.outcomes === undefined) return null
  const possible = (page.tenant[kind.name] as unknown as SteeredStore).possibleOutcomes(referenceOf(kind, record))
  const present = outcomeOf(record as { outcome?: string })?.outcome ?? (record.outcome as string | undefined)
  if (possible.length === 0 && present === undefined) return null
  const outcome = possible.find(one => one.outcome === present)?.outcome ?? possible[0]?.outcome
  const params = { [kind.reference]: referenceOf(kind, record) }
  const call = control(`PUT ${kind.calls}/:${kind.reference}/outcome`, { outcome }, params)
  const choices = {
    outcome: possible.map(({ outcome, description }) => [outcome, `${outcome}: ${description}`] as const),
  }
  const action = { id: 'choose', label: 'Choose', call, fields: ['outcome'], choices }
  return (
    <Card id="outcome" title="Outcome">
      <p>{present === undefined ? 'None is chosen: it goes its usual way.' : `Chosen: ${present}.`}</p>
      {possible.length > 0 && <Actions page={page} id="outcome" actions={[action]} />}
    </Card>
  )
}

const MOST_RELATED = 20

/** The records that a record names, and those that name it. */
function Related({ page, kind, row: { region, record } }: { page: Page; kind: Kind; row: Row }) {
  const { tenant } = page
  const facts = kinds.flatMap((other): [string, ComponentChildren][] => {
    const { [other.reference]: reference } = record
    if (!isNaming(kind, other) || typeof reference !== 'string') return []
    const isKnown = findRecord(tenant, other, reference, region) !== undefined
    return [[toTitle(other.noun), isKnown ? linkTo(page, other, { region, record }) : reference]]
  })
  const lists = kinds.filter(other => isNaming(other, kind))
  if (facts.length === 0 && lists.length === 0) return null
  const members = { [kind.reference]: referenceOf(kind, record) }
  return (
    <Card id="related" title="Related">
      <Facts facts={facts} />
      {lists.map(other => {
        const { data, nextCursor } = tenant[other.name].search({
          region: region as Region,
          members,
          limit: MOST_RELATED,
        })
        return (
          <Fragment key={other.name}>
            <RecordTable
              page={page}
              kind={other}
              rows={data as readonly Row[]}
              empty={`No ${other.noun} names this ${kind.noun} yet.`}
            />
            {nextCursor !== null && <p>The newest of them.</p>}
          </Fragment>
        )
      })}
    </Card>
  )
}

/** The members of a record, and its JSON. */
const Members = ({ kind, record, json }: { kind: Kind; record: AnyRecord; json: object }) => (
  <Card id="members" title="Members">
    <Facts
      facts={pathsOf(record).map(path => [path, <Value key={path} kind={kind} record={record} path={path} />] as const)}
    />
    <details id="json">
      <summary>JSON</summary>
      <Json label="The record as JSON" value={json} />
    </details>
  </Card>
)

/** Lists the paths of all members that are not nested, and of those of nested objects. */
const pathsOf = (record: object, path = ''): readonly string[] =>
  Object.entries(record).flatMap(([name, value]) =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? pathsOf(value, `${path}${name}.`)
      : [path + name],
  )
