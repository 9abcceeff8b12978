/** The records of a kind, and the form of a new one. */
import { useState } from 'preact/hooks'
import { toTitle } from '../../core/words.js'
import { addressOf, pathOf, queryOf } from '../address.js'
import { read, useLoaded, withClient } from '../api.js'
import { kindNamed, pageOf, RecordLink, referenceOf, useApp, useOwn } from '../app.js'
import { isAmount, memberAt, toLabel } from '../format.js'
import { Form, useOperation } from '../forms.js'
import { sentenceOf } from '../notices.js'
import type { Column, Option } from '../parts.js'
import { Card, Choice, Pager, Refused, Status, Table, Value } from '../parts.js'
import { newRecord } from '../schema.js'
import type { AnyRecord, Found, Kind, Outcome, SentCall } from '../types.js'

const PAUSE_MS = 250
const REGIONS = ['EU', 'US', 'UK', 'IN']

/** The kinds as tabs. */
function KindTabs({ present }: { present: Kind }) {
  const { kinds, href, own } = useApp()
  return (
    <ul class="tabs">
      {kinds.map(kind => (
        <li key={kind.name}>
          <a href={href(pageOf(kind))} aria-current={kind.name === present.name ? 'true' : undefined}>
            {kind.title} <span class="hint">{own.counts?.[kind.name]}</span>
          </a>
        </li>
      ))}
    </ul>
  )
}

/** Shows a member of a record in a table. A reference of another record is a link. */
function Cell({ kind, found, path }: { kind: Kind; found: Found; path: string }) {
  const other = kind.names.find(({ member }) => member === path)
  const value = memberAt(found.record, path)
  if (other && typeof value === 'string')
    return <RecordLink kind={other.name} reference={value} region={found.region} />
  return <Value record={{ region: found.region, ...found.record }} path={path} />
}

interface RecordTableProps {
  readonly kind: Kind
  readonly rows: readonly Found[]
  readonly empty: string
}

export function RecordTable({ kind, rows, empty }: RecordTableProps) {
  const columns: readonly Column<Found>[] = [
    [
      'Reference',
      ({ region, record }) => <RecordLink kind={kind.name} reference={referenceOf(kind, record)} region={region} />,
      'reference',
    ],
    ...(kind.lifecycle ? [['Status', ({ record }: Found) => <Status of={String(record.status)} />] as const] : []),
    ...kind.columns.map((path, at): Column<Found> => {
      const name = [at >= (kind.lifecycle ? 1 : 2) && 'wide', isAmount(path) && 'number'].filter(Boolean).join(' ')
      return [toLabel(path), found => <Cell kind={kind} found={found} path={path} />, name || undefined]
    }),
  ]
  const keyOf = ({ region, record }: Found) => `${region}-${referenceOf(kind, record)}`
  return <Table caption={kind.title} columns={columns} rows={rows} keyOf={keyOf} empty={empty} />
}

/** A text field of a filter, whose value is in the address. */
export function TextFilter({ name, label, example }: { name: string; label: string; example?: string }) {
  const { address, client, go } = useApp()
  const given = address.query[name] ?? ''
  const [text, setText] = useState(given)
  const [timer, setTimer] = useState<ReturnType<typeof setTimeout>>()
  const filter = (value: string) => {
    setText(value)
    clearTimeout(timer)
    const { cursor, ...query } = address.query
    setTimer(setTimeout(() => go(addressOf(address.path, client, { ...query, [name]: value }), true), PAUSE_MS))
  }
  return (
    <div class="field">
      <label for={`filter-${name}`}>{label}</label>
      <input
        id={`filter-${name}`}
        type="search"
        autocomplete="off"
        value={text}
        placeholder={example && `Such as ${example}`}
        onInput={event => filter(event.currentTarget.value)}
      />
    </div>
  )
}

export function ChoiceFilter({ name, values }: { name: string; values: readonly string[] }) {
  const { address, client, go } = useApp()
  const { cursor, ...query } = address.query
  return (
    <Choice
      id={`filter-${name}`}
      label={toLabel(name)}
      options={[['', 'All'] as const, ...values.map(value => [value, value] as const)]}
      value={query[name] ?? ''}
      onChange={value => go(addressOf(address.path, client, { ...query, [name]: value }))}
    />
  )
}

interface Page {
  readonly data: readonly { region: string; createdAt: string; record: AnyRecord }[]
  readonly nextCursor: string | null
  readonly total: number
}

/** The records of a kind: filters, one page of a table, and the way to the next. */
export function Records({ kind }: { kind: Kind }) {
  const { own, address, href } = useApp()
  const { status, search, region, cursor } = address.query
  const filter = { status, search, region }
  const query = queryOf({ ...filter, cursor, limit: '50' })
  const { data, error } = useOwn<Page>(`/_sandbox/${kind.path}?${query}`)
  const all = own.counts?.[kind.name] ?? 0
  const isFiltered = Object.values(filter).some(value => value !== undefined)
  const path = pageOf(kind)
  return (
    <>
      <KindTabs present={kind} />
      <Card
        id="table"
        title={
          data === undefined ? kind.title : isFiltered ? `${data.total} of ${all}` : `${data.data.length} of ${all}`
        }
        aside={kind.isCreated && <a class="button" href={href(`${path}/new`)}>{`New ${kind.noun}`}</a>}
      >
        <div class="filters">
          <TextFilter name="search" label="Reference or name" />
          {kind.lifecycle && <ChoiceFilter name="status" values={kind.lifecycle.states} />}
          {kind.regions !== 'EU' && <ChoiceFilter name="region" values={REGIONS} />}
          {isFiltered && <a href={href(path)}>All</a>}
        </div>
        {error && <Refused error={error} />}
        {data && (
          <>
            <RecordTable
              kind={kind}
              rows={data.data.map(found => ({ ...found, kind: kind.name }))}
              empty={isFiltered ? `No ${kind.noun} fits this filter.` : kind.empty}
            />
            <Pager
              links={{
                Newest: cursor !== undefined && href(path, filter),
                Older: data.nextCursor !== null && href(path, { ...filter, cursor: data.nextCursor }),
              }}
            />
          </>
        )}
      </Card>
    </>
  )
}

/** The value of a list for no outcome. */
export const NONE: Option = ['', 'None: the usual course']

/** Returns outcomes as a list in words, in groups by the state that they lead to. */
export function useEndings() {
  const { reasonOf } = useApp()
  return (outcomes: readonly Outcome[]): readonly Option[] =>
    outcomes.map(({ outcome, description }) => {
      const [, group = outcome, code = ''] = /^([A-Z]+)-?(.*)$/.exec(outcome) ?? []
      const reason = reasonOf(code)
      return [outcome, reason === code ? description : reason, toTitle(group.toLowerCase())]
    })
}

/** Reads the outcomes that there are: they never change. */
export const useOutcomes = () => useOwn<{ data: Outcome[]; payoutLinks: Outcome[] }>('/_sandbox/outcomes', true).data

/** The form of a new record, filled in with a valid example that is new each time. */
export function NewRecord({ kind }: { kind: Kind }) {
  const { client, clock, kinds, address, href, go, say } = useApp()
  const call: SentCall = { method: 'POST', path: `/api/v1/${kind.path}` }
  const operation = useOperation(call)
  const others = kind.names.flatMap(({ name, accepts }) => {
    const other = kindNamed(kinds, name)
    return other && Object.keys(accepts).length > 0 ? [other] : []
  })
  const { data: named } = useLoaded(`named ${kind.name} ${client}`, async signal => {
    const pages = others.map(async ({ name, path }) => {
      const { data } = await read<{ data: Found[] }>(withClient(`/_sandbox/${path}`, client), signal)
      return data.map(found => ({ ...found, kind: name }))
    })
    return (await Promise.all(pages)).flat()
  })
  const [number] = useState(() => Date.now() % 1_000_000)
  const [outcome, setOutcome] = useState('')
  const collections = useOutcomes()?.data ?? []
  const endingsOf = useEndings()
  const example = operation?.operation.requestBody?.content['application/json']?.example
  if (example === undefined || named === undefined || clock === undefined) return null
  const hasEnding = operation?.body.properties?.debtorReference !== undefined && kind.outcomes.length > 0
  // The address can name members, such as the mandate of a new collection.
  const given = Object.entries(address.query).filter(([name]) => Object.hasOwn(example, name))
  const body = { ...newRecord(kind, example, clock.now, number, named), ...Object.fromEntries(given) }
  const filled = outcome === '' ? body : { ...body, debtorReference: `SIM-${outcome}` }
  const missing = others.find(({ reference }) => body[reference] === example[reference])
  const onDone = (answer: unknown) => {
    say(sentenceOf(kinds, '', answer))
    const path = pathOf(pageOf(kind).slice(1), referenceOf(kind, answer as AnyRecord))
    go(href(path ?? pageOf(kind)))
  }
  return (
    <Card id="new" title="Request to the API">
      <p class="hint">
        The form sends the request that your app would send, so it is in Requests, and faults apply to it.{' '}
        {missing && <a href={href(`${pageOf(missing)}/new`)}>No {missing.noun} fits it: create one first.</a>}
      </p>
      {hasEnding && (
        <Choice
          id="ending"
          label="How it ends"
          options={[NONE, ...endingsOf(collections)]}
          value={outcome}
          onChange={setOutcome}
          hint={`${collections.find(one => one.outcome === outcome)?.description ?? 'It settles.'} The debtor reference says so, which your app can send, too.`}
        />
      )}
      <Form
        id="create"
        label={`Create the ${kind.noun}`}
        call={{ ...call, body: filled }}
        fields="all"
        look="primary"
        onDone={onDone}
      />
    </Card>
  )
}
