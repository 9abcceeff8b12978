import type { ComponentChildren } from 'preact'
import { areas } from '../../areas/index.js'
import type { ApiError } from '../../core/errors.js'
import { REGIONS } from '../../core/rules/regions.js'
import type { AnyRecord, Kind } from '../kinds.js'
import { callPath } from '../kinds.js'
import type { Page } from '../page.js'
import { addressOf, href } from '../page.js'
import { CallForm } from './forms.js'
import type { Column } from './parts.js'
import { Card, formatMoney, Status, Table, Time } from './parts.js'

/** A record in a table, with its region. */
export interface Row {
  readonly region: string
  readonly record: AnyRecord
}

const text =
  (field: string) =>
  ({ record }: Row) =>
    record[field] as ComponentChildren
const money =
  (field: string) =>
  ({ record }: Row) =>
    formatMoney(record[field], record.currency)
const time =
  (field: string) =>
  ({ record }: Row) => <Time at={record[field] as string} />
const part =
  (field: string, member: string) =>
  ({ record }: Row) =>
    (record[field] as AnyRecord)?.[member] as ComponentChildren

/** The columns of each kind after the reference and the status. */
const COLUMNS: { readonly [name in Kind['name']]: readonly Column<Row>[] } = {
  collections: [
    { title: 'Amount', class: 'number', cell: money('amount') },
    { title: 'Date', cell: text('collectionDate') },
    { title: 'Debtor', isWide: true, cell: text('debtorName') },
    { title: 'Mandate', isWide: true, cell: text('mandateReference') },
    { title: 'Reason', isWide: true, cell: text('reasonCode') },
  ],
  mandates: [
    { title: 'Debtor', cell: part('debtor', 'name') },
    { title: 'Type', isWide: true, cell: text('type') },
    { title: 'Created', isWide: true, cell: time('createdAt') },
  ],
  payoutLinks: [
    { title: 'Amount', class: 'number', cell: money('amount') },
    { title: 'Method', isWide: true, cell: text('payoutMethod') },
    { title: 'Recipient', isWide: true, cell: text('accountHolderName') },
    { title: 'Expires', isWide: true, cell: time('expiresAt') },
  ],
  bills: [
    { title: 'Open', class: 'number', cell: money('openAmount') },
    { title: 'Total', class: 'number', isWide: true, cell: money('totalAmount') },
    { title: 'Due', cell: text('dueDate') },
    { title: 'Counterparty', isWide: true, cell: text('counterpartyReference') },
  ],
  counterparties: [
    { title: 'Holder', cell: text('accountHolderName') },
    { title: 'E-mail', isWide: true, cell: text('emailAddress') },
    { title: 'Region', isWide: true, cell: ({ region }) => region },
  ],
  accounts: [
    { title: 'Holder', isWide: true, cell: text('accountHolderName') },
    { title: 'Number', isWide: true, cell: text('accountIdentifier') },
    { title: 'Balance', class: 'number', cell: money('balance') },
  ],
}

/** Returns the path of a record below the console, with its region where several regions can have the reference. */
export const linkTo = (page: Page, kind: Kind, { region, record }: Row): string =>
  href(page, `${kind.path}/${encodeURIComponent(String(record[kind.idField]))}`, hasRegions(kind) ? { region } : {})

const hasRegions = ({ name }: Kind) => name !== 'collections' && name !== 'mandates'

/** A table of records. */
export function RecordTable({
  page,
  kind,
  rows,
  empty,
}: {
  page: Page
  kind: Kind
  rows: readonly Row[]
  empty: ComponentChildren
}) {
  const columns: readonly Column<Row>[] = [
    { title: 'Reference', cell: row => <a href={linkTo(page, kind, row)}>{String(row.record[kind.idField])}</a> },
    ...(kind.lifecycle ? [{ title: 'Status', cell: ({ record }: Row) => <Status of={String(record.status)} /> }] : []),
    ...COLUMNS[kind.name],
  ]
  const keyOf = ({ region, record }: Row) => `${kind.name}-${region}-${record[kind.idField]}`
  return <Table caption={kind.title} columns={columns} rows={rows} keyOf={keyOf} empty={empty} />
}

/** The records of a kind: filters, one page of a table, and the way to the next. */
export function Records({ page, kind }: { page: Page; kind: Kind }) {
  const { tenant, query } = page
  const { status, search, region, cursor } = query
  const { data, nextCursor } = tenant[kind.name].search({ status, search, region: region as 'EU' | undefined, cursor })
  const isFiltered = status !== undefined || search !== undefined || region !== undefined
  const states: readonly string[] = 'lifecycle' in areas[kind.name] ? Object.keys(kind.lifecycle ?? {}) : []
  const filter = { status, search, region }
  return (
    <Card
      id="table"
      title={`${tenant[kind.name].size()} in all`}
      aside={kind.create && <a class="button" href={href(page, `${kind.path}/new`)}>{`New ${kind.noun}`}</a>}
    >
      <form method="get" action={addressOf(page, `console${kind.path}`)} class="filters">
        <input type="hidden" name="client" value={tenant.clientId} />
        <div class="field">
          <label for="search">Reference</label>
          <input id="search" name="search" type="search" value={search ?? ''} autocomplete="off" />
        </div>
        {states.length > 0 && <Choice name="status" label="Status" values={states} chosen={status} />}
        {hasRegions(kind) && <Choice name="region" label="Region" values={REGIONS} chosen={region} />}
        <button type="submit" class="plain">
          Filter
        </button>
        {isFiltered && <a href={href(page, kind.path)}>All</a>}
      </form>
      <RecordTable
        page={page}
        kind={kind}
        rows={data as readonly Row[]}
        empty={isFiltered ? `No ${kind.noun} fits this filter.` : kind.empty}
      />
      <nav class="pager" aria-label="Pages">
        {cursor !== undefined && <a href={href(page, kind.path, filter)}>Newest</a>}
        {nextCursor !== null && <a href={href(page, kind.path, { ...filter, cursor: nextCursor })}>Older</a>}
      </nav>
    </Card>
  )
}

/** A list of values in a filter; the first choice is all. */
export function Choice({ name, label, values, chosen }: ChoiceProps) {
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <select id={name} name={name}>
        <option value="">All</option>
        {values.map(value => (
          <option key={value} value={value} selected={value === chosen}>
            {value}
          </option>
        ))}
      </select>
    </div>
  )
}
interface ChoiceProps {
  readonly name: string
  readonly label: string
  readonly values: readonly string[]
  readonly chosen: string | undefined
}

/** The numbers that are tried for an example. A client can have taken any. */
const MOST_TRIES = 20

/** Returns the body of a request that is accepted: its reference is not taken. */
function unusedExample({ tenant, realNow }: Page, kind: Kind): AnyRecord {
  const { example } = kind.create as NonNullable<Kind['create']>
  const first = tenant[kind.name].size() + 1
  for (let number = first; number < first + MOST_TRIES; number++) {
    const body = example(tenant, String(number).padStart(4, '0')) as AnyRecord
    if (!isTaken(tenant, kind, body[kind.idField] as string | undefined)) return body
  }
  return example(tenant, realNow.toString(36)) as AnyRecord
}

function isTaken(tenant: Page['tenant'], kind: Kind, reference: string | undefined): boolean {
  try {
    return reference !== undefined && kind.explain?.(tenant, reference, undefined) !== undefined
  } catch (error) {
    return !(error as ApiError).code.endsWith('_NOT_FOUND')
  }
}

/** The form of a new record, filled in with a valid example that is new each time. */
export function NewRecord({ page, kind }: { page: Page; kind: Kind }) {
  const create = kind.create as NonNullable<Kind['create']>
  const call = {
    method: 'POST',
    target: `/api/v1/${callPath(kind)}`,
    region: 'EU' as const,
    body: unusedExample(page, kind),
  }
  return (
    <Card id="new" title="The request of the API">
      <p class="hint">
        The form sends the request that your app would send, so it is in Requests, and faults apply to it. The example
        is accepted as it is.
      </p>
      <CallForm
        page={page}
        id="create"
        call={call}
        label={`Create the ${kind.noun}`}
        next={`${kind.path}/{${kind.idField}}`}
        schema={create.schema}
        regions={create.regions}
        hasCurl
      />
    </Card>
  )
}
