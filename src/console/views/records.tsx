import type { TSchema } from '@sinclair/typebox'
import type { ComponentChildren } from 'preact'
import { REGIONS } from '../../core/domain/regions.js'
import { toList } from '../../core/words.js'
import { regionsOf } from '../../http/operations.js'
import { Card } from '../../http/pages/parts.js'
import { exampleOf } from '../../tenants/examples.js'
import { bodyOf, routeOf } from '../calls.js'
import type { AnyRecord, Kind, Row } from '../kinds.js'
import { findRecord, kindOf, pageOf, referenceOf, statesOf } from '../kinds.js'
import type { Page } from '../page.js'
import { addressOf, href } from '../page.js'
import { Actions, FormField } from './forms.js'
import type { Column } from './parts.js'
import { isAmount, Pager, Status, Table, toLabel, Value } from './parts.js'

/** A link to a record, with its region where several regions can have the reference. A text that no URL holds is no link. */
export function linkTo(page: Page, kind: Kind, { region, record }: Row) {
  const reference = referenceOf(kind, record)
  const query = kind.regions !== 'EU' && region !== '' ? { region } : {}
  const path = pageOf(kind, reference)
  return path === undefined ? reference : <a href={href(page, path, query)}>{reference}</a>
}

interface RecordTableProps {
  readonly page: Page
  readonly kind: Kind
  readonly rows: readonly Row[]
  readonly empty: ComponentChildren
}

export function RecordTable({ page, kind, rows, empty }: RecordTableProps) {
  const members = kind.columns.map((path, at): Column<Row> => {
    const cell = ({ region, record }: Row) => <Value kind={kind} record={{ region, ...record }} path={path} />
    const name = [at >= 2 && 'wide', isAmount(path) && 'number'].filter(Boolean).join(' ')
    return [toLabel(path), cell, name || undefined]
  })
  const columns: readonly Column<Row>[] = [
    ['Reference', row => linkTo(page, kind, row), 'reference'],
    ...(kind.lifecycle ? [['Status', ({ record }: Row) => <Status of={String(record.status)} />] as const] : []),
    ...members,
  ]
  const keyOf = ({ region, record }: Row) => `${kind.name}-${region}-${referenceOf(kind, record)}`
  return <Table caption={kind.title} columns={columns} rows={rows} keyOf={keyOf} empty={empty} />
}

/** The records of a kind: filters, one page of a table, and the way to the next. */
export function Records({ page, kind }: { page: Page; kind: Kind }) {
  const { tenant, query } = page
  const { status, search, region, cursor } = query
  const filter = { status, search, region }
  const { data, nextCursor } = tenant[kind.name].search({ ...filter, cursor })
  const size = tenant[kind.name].size()
  return (
    <Card
      id="table"
      title={isSet(filter) ? `Filtered, of ${size} in all` : `${size} in all`}
      aside={kind.create && <a class="button" href={href(page, `${kind.path}/new`)}>{`New ${kind.noun}`}</a>}
    >
      <Filters page={page}>
        <Filter page={page} name="search" label="Reference" />
        {kind.lifecycle && <Filter page={page} name="status" values={statesOf(tenant, kind)} />}
        {kind.regions !== 'EU' && <Filter page={page} name="region" values={REGIONS} />}
      </Filters>
      <RecordTable
        page={page}
        kind={kind}
        rows={data as readonly Row[]}
        empty={isSet(filter) ? `No ${kind.noun} fits this filter.` : kind.empty}
      />
      <Pager
        links={{
          Newest: cursor !== undefined && href(page, kind.path, filter),
          Older: nextCursor !== null && href(page, kind.path, { ...filter, cursor: nextCursor }),
        }}
      />
    </Card>
  )
}

/** Whether a filter has a value. */
export const isSet = (filter: object): boolean => Object.values(filter).some(value => value !== undefined)

/** The form of the filters of a page. */
export const Filters = ({ page, children }: { page: Page; children: ComponentChildren }) => (
  <form method="get" action={addressOf(page, `console${page.path}`)} class="filters">
    <input type="hidden" name="client" value={page.tenant.clientId} />
    {children}
    <button type="submit" class="plain">
      Filter
    </button>
    {Object.keys(page.refused?.fields ?? page.query).some(name => name !== 'client') && (
      <a href={href(page, page.path)}>All</a>
    )}
  </form>
)

interface FilterProps {
  readonly page: Page
  readonly name: string
  readonly label?: string
  readonly example?: string
  /** The values to choose from; undefined: any text. */
  readonly values?: readonly string[]
}

/** The field of a filter, with the refusal of its value. */
export function Filter({ page: { refused, query }, name, label, example, values }: FilterProps) {
  const schema = { type: 'string', ...(example && { examples: [example] }) } as unknown as TSchema
  const options = values && [['', 'All'] as const, ...values]
  const field = { path: name, name, label, schema, value: query[name] ?? '', options }
  return <FormField form="filter" field={field} refused={refused?.call ? undefined : refused} hasHint={false} />
}

/** The numbers that are tried for an example. A client can have taken any. */
const MOST_TRIES = 20

/** The form of a new record, filled in with a valid example that is new each time. */
export function NewRecord({ page, kind }: { page: Page; kind: Kind }) {
  const { tenant, context } = page
  const call = { route: `POST /api/v1${kind.calls}` }
  const regions = regionsOf(routeOf(context, call.route).schema) ?? []
  const schema = bodyOf(context, call)
  const isNew = (body: AnyRecord) => findRecord(tenant, kind, referenceOf(kind, body)) === undefined
  const tries = Array.from({ length: MOST_TRIES }, (_, at) => exampleOf(tenant, page.realNow, schema, at) as AnyRecord)
  const example = tries.find(isNew) ?? tries[0]
  // It names the newest records of other kinds that it can.
  const named = Object.entries(kind.refersTo ?? {}).map(([member, { kind: name, accepts }]) => {
    const [found] = tenant[name].search({ members: accepts, limit: 1 }).data
    const other = kindOf(name)
    return { other, accepts, filled: found && { [member]: referenceOf(other, found.record as AnyRecord) } }
  })
  const missing = named.find(({ filled }) => filled === undefined)
  const body = Object.assign({ ...example }, ...named.map(({ filled }) => filled))
  const create = {
    id: 'create',
    label: `Create the ${kind.noun}`,
    call: { ...call, region: regions[0], body },
    ...{ fields: 'all' as const, look: 'primary' as const, regions },
  }
  return (
    <Card id="new" title="The request of the API">
      <p class="hint">
        The form sends the request that your app would send, so it is in Requests, and faults apply to it.{' '}
        {missing ? (
          <a href={href(page, `${missing.other.path}/new`)}>
            No {missing.other.noun} is {toList(Object.values(missing.accepts), 'and')}: create one first.
          </a>
        ) : (
          'The example is accepted as it is.'
        )}
      </p>
      <Actions page={page} id="create" actions={[create]} />
    </Card>
  )
}
