import type { ComponentChildren } from 'preact'
import { BillUpdate } from '../../areas/bills/schemas.js'
import { isPossible, outcomeOf, outcomes } from '../../areas/direct-debit/outcomes.js'
import { findReasonCode } from '../../areas/direct-debit/reason-codes.js'
import type { PayoutMethod } from '../../areas/payout-links/claim-rules.js'
import { claimFields } from '../../areas/payout-links/claim-rules.js'
import { payoutLinkOutcomes, STEERABLE_STATUSES } from '../../areas/payout-links/outcomes.js'
import { CancelPayoutLink, Claim, Decline } from '../../areas/payout-links/schemas.js'
import { errors } from '../../core/errors.js'
import type { Explained, LegalMove } from '../../core/records/stateful-repository.js'
import { parseAmount } from '../../core/rules/money.js'
import type { Region } from '../../core/rules/regions.js'
import { regionOf } from '../../core/rules/regions.js'
import { toWords } from '../../core/words.js'
import type { Call } from '../calls.js'
import type { AnyRecord, Kind } from '../kinds.js'
import { callPath, kinds } from '../kinds.js'
import { findRecord } from '../lists.js'
import { formatMoment } from '../moments.js'
import type { Page } from '../page.js'
import { addressOf } from '../page.js'
import { CallForm, control, SameCall } from './forms.js'
import { LifecycleDrawing } from './lifecycle.js'
import { CAUSES } from './overview.js'
import { Card, Facts, formatMoney, Json, Status, Table, Time } from './parts.js'
import { linkTo, RecordTable, type Row } from './records.js'

/** One record, with its reference and region in the address. */
export function OneRecord({ page, kind }: { page: Page; kind: Kind }) {
  const { tenant, params, query } = page
  const reference = params.reference as string
  if (kind.explain === undefined) {
    const found = findRecord(tenant, kind, reference, query.region)
    if (found === undefined) {
      throw kind.name === 'counterparties' ? errors.counterpartyNotFound(reference) : errors.routeNotFound()
    }
    return <PlainRecord page={page} kind={kind} row={found} />
  }
  return <StatefulRecord page={page} kind={kind} explained={kind.explain(tenant, reference, query.region as Region)} />
}

interface StatefulProps {
  readonly page: Page
  readonly kind: Kind
  readonly explained: Explained<AnyRecord>
}

function StatefulRecord({ page, kind, explained }: StatefulProps) {
  const { record, timeline, next } = explained
  const status = String(record.status)
  const lifecycle = kind.lifecycle as NonNullable<Kind['lifecycle']>
  return (
    <>
      <p class="headline">
        <Status of={status} />
        {'amount' in record && <strong>{formatMoney(record.amount, record.currency)}</strong>}
        {'totalAmount' in record && <strong>{formatMoney(record.totalAmount, record.currency)}</strong>}
        {kind.name === 'payoutLinks' && <PageLinks page={page} record={record} />}
      </p>
      <Card id="lifecycle" title="Lifecycle">
        <LifecycleDrawing lifecycle={lifecycle} status={status} timeline={timeline} next={next} />
      </Card>
      <div class="columns">
        <Card id="comes" title="What comes next">
          <p>
            {next === null ? (
              (stuckText(record) ??
              (explained.legal.length === 0 ? 'Nothing: the state is final.' : 'Nothing happens by itself.'))
            ) : (
              <>
                <Status of={next.to} /> on <Time at={next.at} />: {whyOf(record)}
              </>
            )}
          </p>
          <Moves page={page} kind={kind} explained={explained} />
        </Card>
        <Card id="timeline" title="Timeline">
          <Table
            caption="The transitions of the record"
            columns={[
              { title: 'State', cell: ({ to }) => <Status of={to} /> },
              { title: 'At', cell: ({ at }) => <Time at={at} /> },
              {
                title: 'Why',
                cell: ({ cause, reasonCode }) => (
                  <>
                    {CAUSES[cause]}
                    {reasonCode && (
                      <>
                        , <Reason code={reasonCode} />
                      </>
                    )}
                  </>
                ),
              },
            ]}
            rows={timeline}
            keyOf={({ seq }) => `event-${seq}`}
            empty="The record came with a fixture, and has not changed since."
          />
        </Card>
      </div>
      <Outcome page={page} kind={kind} explained={explained} />
      <Related page={page} kind={kind} record={record} />
      <Members record={record} explained={explained} page={page} kind={kind} />
    </>
  )
}

/** A reason code with its name, such as `AM04 insufficient funds`. */
const nameOf = (code: string) => `${code} ${toWords(findReasonCode(code)?.name ?? '').trim()}`
const Reason = ({ code }: { code: string }) => <>{nameOf(code)}</>

/** Says why the next transition comes. */
function whyOf(record: AnyRecord): string {
  const outcome = outcomeOf(record as { outcome?: string })
  if (outcome !== undefined && outcome.from === record.status)
    return `by its outcome ${outcome.outcome}. ${outcome.description}`
  if (record.outcome === 'FAILED') return 'by its outcome FAILED.'
  return 'as time passes.'
}

/** Says why a record stays in its state; undefined: no outcome holds it there. */
function stuckText(record: AnyRecord): string | undefined {
  const stuckIn =
    outcomeOf(record as { outcome?: string })?.stuckIn ?? String(record.outcome ?? '').replace('STUCK-', '')
  return stuckIn === record.status ? `Nothing: its outcome is to stay ${stuckIn} until you move it.` : undefined
}

function PageLinks({ page, record }: { page: Page; record: AnyRecord }) {
  const query = new URLSearchParams({ client: page.tenant.clientId, link: String(record.payoutLinkId) })
  return (
    <>
      <a class="button" href={String(record.url)} target="_blank" rel="noreferrer">
        Open the page
      </a>
      {record.uiMode === 'embedded' && (
        <a class="button plain" href={addressOf(page, `embed-demo?${query}`)} target="_blank" rel="noreferrer">
          Show it embedded
        </a>
      )}
    </>
  )
}

// ---------------------------------------------------------------------------------------------------------- moves

/** A legal move as a form: of the control plane, or of the API where only that has it. */
interface Move {
  readonly call: Call
  readonly schema?: typeof Claim | typeof Decline | typeof CancelPayoutLink | typeof BillUpdate
  readonly names?: readonly string[]
}

function moveOf(page: Page, kind: Kind, record: AnyRecord, { verb, to }: LegalMove): Move {
  const path = `/${callPath(kind)}/${encodeURIComponent(String(record[kind.idField]))}`
  const region = regionOf(record.currency as 'EUR')
  const patch = (suffix: string, body: object): Call => ({
    method: 'PATCH',
    target: `/api/v1${path}${suffix}`,
    region,
    body,
  })
  const move = control(page, 'POST', `${path}/${verb}`)
  if (kind.name === 'bills') {
    const { totalAmount } = record
    if (to === 'PARTIALLY_PAID') {
      return {
        call: patch('', { openAmount: halfOf(totalAmount) }),
        schema: BillUpdate,
        names: ['openAmount'],
      }
    }
    return { call: patch('', to === 'OPEN' ? { openAmount: totalAmount } : { status: to }) }
  }
  if (kind.name !== 'payoutLinks') return { call: move }
  if (verb === 'cancel')
    return { call: patch('/cancel', { cancellationComment: 'Cancelled in the console' }), schema: CancelPayoutLink }
  if (verb === 'decline') return { call: { ...move, body: {} }, schema: Decline }
  if (verb !== 'claim') return { call: move }
  const names = claimFields(record.payoutMethod as PayoutMethod).map(({ name }) => name)
  const hasBranch = names.includes('branchIdentifier.value')
  return {
    call: { ...move, body: exampleClaim(record) },
    schema: Claim,
    names: [...names, ...(hasBranch ? ['branchIdentifier', 'branchIdentifier.type'] : [])],
  }
}

/** Returns half of an amount, rounded up to a cent: half of `1190.01` is `595.01`. */
const halfOf = (amount: unknown) => (Math.ceil(parseAmount(String(amount)) / 2) / 100).toFixed(2)

/** Returns a claim that is accepted. */
function exampleClaim({ payoutMethod, accountHolderName = 'Jane Doe' }: AnyRecord): object {
  const branch = (type: string, value: string) => ({ branchIdentifier: { type, value } })
  if (payoutMethod === 'US-ACH') {
    return {
      accountHolderName,
      accountIdentifier: '000123456789',
      ...branch('ROUTING', '021000021'),
      accountType: 'CHECKING',
    }
  }
  if (String(payoutMethod).startsWith('UK'))
    return { accountHolderName, accountIdentifier: '55779911', ...branch('SORT', '200000') }
  return { accountHolderName, accountIdentifier: 'DE89370400440532013000' }
}

function Moves({ page, kind, explained: { record, legal } }: StatefulProps) {
  if (legal.length === 0) return null
  // A transition whose reason codes have several time limits is one form, with all its codes.
  const moves = legal
    .filter(({ verb, to }, index) => legal.findIndex(move => move.verb === verb && move.to === to) === index)
    .map(move => ({ ...move, ...moveOf(page, kind, record, move) }))
  return (
    <>
      <h3>Move it now</h3>
      <div class="moves">
        {moves.map(({ verb, to, call, schema, names }) => {
          const id = `move-${verb}`
          const label = `${verb.charAt(0).toUpperCase()}${verb.slice(1).replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`)} → ${to}`
          if (schema === undefined) {
            return (
              <CallForm key={id} page={page} id={id} call={call} label={label} isPlain>
                <ReasonChoice id={id} limits={legal.filter(move => move.verb === verb && move.to === to)} />
              </CallForm>
            )
          }
          return (
            <details key={id} id={`${id}-form`} open={page.refused?.fields.form === id}>
              <summary class="button plain">{label} …</summary>
              <CallForm page={page} id={id} call={call} label={label} schema={schema} names={names} />
            </details>
          )
        })}
      </div>
      <SameCall page={page} id="moves" calls={moves.map(({ call }) => call)} />
    </>
  )
}

/** Offers the reason codes that are legal now, by their time limits. */
function ReasonChoice({ id, limits }: { id: string; limits: readonly LegalMove[] }) {
  if (limits.every(({ reasonCodes }) => reasonCodes === undefined)) return null
  const options = (codes: readonly string[] = []) =>
    codes.map(code => (
      <option key={code} value={code}>
        {nameOf(code)}
      </option>
    ))
  return (
    <>
      <label class="hidden" for={`${id}-reason`}>
        Reason
      </label>
      <select id={`${id}-reason`} name="body.reasonCode">
        {limits.map(({ reasonCodes, until }) =>
          until === undefined ? (
            options(reasonCodes)
          ) : (
            <optgroup key={until} label={`Until ${formatMoment(Date.parse(until))}`}>
              {options(reasonCodes)}
            </optgroup>
          ),
        )}
      </select>
    </>
  )
}

/** The outcome of a record, and those that it can still have. */
function Outcome({ page, kind, explained: { record, legal } }: StatefulProps) {
  const { status } = record
  const possible =
    kind.name === 'collections'
      ? outcomes.filter(outcome => isPossible(outcome, status as 'PENDING', legal))
      : kind.name === 'payoutLinks' && STEERABLE_STATUSES.includes(status as 'ACTIVE')
        ? payoutLinkOutcomes
        : []
  const present = outcomeOf(record as { outcome?: string })?.outcome ?? (record.outcome as string | undefined)
  if (possible.length === 0 && present === undefined) return null
  const path = `/${callPath(kind)}/${encodeURIComponent(String(record[kind.idField]))}/outcome`
  const call = control(page, 'PUT', path)
  return (
    <Card id="outcome" title="Outcome">
      <p>{present === undefined ? 'None is chosen: it goes its usual way.' : `Chosen: ${present}.`}</p>
      {possible.length > 0 && (
        <CallForm page={page} id="choose" call={call} label="Choose" isPlain>
          <label for="choose-outcome">How it ends</label>
          <select id="choose-outcome" name="body.outcome">
            {possible.map(({ outcome, description }) => (
              <option key={outcome} value={outcome} selected={outcome === present}>
                {outcome}: {description}
              </option>
            ))}
          </select>
        </CallForm>
      )}
      <SameCall page={page} id="outcome" calls={[{ ...call, body: { outcome: possible[0]?.outcome ?? present } }]} />
    </Card>
  )
}

// --------------------------------------------------------------------------------------------- related and members

/** The most related records. */
const MOST_RELATED = 20
const kindOf = (name: Kind['name']) => kinds.find(kind => kind.name === name) as Kind

function Related({ page, kind, record }: { page: Page; kind: Kind; record: AnyRecord }) {
  const { tenant } = page
  const limit = MOST_RELATED
  const { mandateReference, counterpartyReference } = record as Readonly<Record<string, string | undefined>>
  const link = (to: Kind, reference: string, region: string) => (
    <a href={linkTo(page, to, { region, record: { [to.idField]: reference } })}>{reference}</a>
  )
  const facts: [string, ComponentChildren][] = []
  if (kind.name === 'collections') facts.push(['Mandate', link(kindOf('mandates'), mandateReference as string, 'EU')])
  if (counterpartyReference !== undefined && kind.name !== 'counterparties') {
    const region = regionOf(record.currency as 'EUR')
    const isKnown = findRecord(tenant, kindOf('counterparties'), counterpartyReference, region) !== undefined
    facts.push([
      'Counterparty',
      isKnown ? link(kindOf('counterparties'), counterpartyReference, region) : counterpartyReference,
    ])
  }
  const collections = kind.name === 'mandates' ? tenant.collections.list({ mandateReference, limit }) : undefined
  if (facts.length === 0 && collections === undefined) return null
  return (
    <Card id="related" title="Related">
      <Facts facts={facts} />
      {collections && (
        <>
          <RecordTable
            page={page}
            kind={kindOf('collections')}
            rows={collections.data.map(record => ({ region: 'EU', record }))}
            empty="No collection uses this mandate yet."
          />
          {collections.hasMore && (
            <p>
              The newest {limit} of {collections.totalCount}.
            </p>
          )}
        </>
      )}
    </Card>
  )
}

function PlainRecord({ page, kind, row }: { page: Page; kind: Kind; row: Row }) {
  const { record, region } = row
  const bills =
    kind.name === 'counterparties'
      ? page.tenant.bills.list(region as Region, {
          counterpartyReference: String(record.counterpartyReference),
          limit: MOST_RELATED,
        })
      : undefined
  return (
    <>
      {bills && (
        <Card id="related" title="Bills">
          <RecordTable
            page={page}
            kind={kindOf('bills')}
            rows={bills.data.map(record => ({ region, record }))}
            empty="No bill names this counterparty yet."
          />
        </Card>
      )}
      <Members page={page} kind={kind} record={record} explained={{ region, record }} />
    </>
  )
}

/** The members of a record, and its JSON. */
function Members({ record, explained }: { page: Page; kind: Kind; record: AnyRecord; explained: object }) {
  return (
    <Card id="members" title="Members">
      <Facts facts={factsOf(record)} />
      <details id="json">
        <summary>JSON</summary>
        <Json label="The record as JSON" value={explained} />
      </details>
    </Card>
  )
}

/** Lists all members that are not nested, and those of nested objects with their paths. */
function factsOf(record: AnyRecord, path = ''): [string, ComponentChildren][] {
  return Object.entries(record).flatMap(([name, value]): [string, ComponentChildren][] => {
    if (value !== null && typeof value === 'object' && !Array.isArray(value))
      return factsOf(value as AnyRecord, `${path}${name}.`)
    const isMoment = typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:]{8}Z$/.test(value)
    const shown = isMoment ? <Time at={value} /> : Array.isArray(value) ? `${value.length}` : String(value)
    return [[path + name, shown]]
  })
}

export const titleOf = (page: Page, { noun }: Kind) =>
  `${noun.charAt(0).toUpperCase()}${noun.slice(1)} ${page.params.reference}`
