import { catalogue, errors } from '../../core/errors.js'
import { mediaTypeOf, parametersOf, addressOf as toAddress } from '../../features/request-log/address.js'
import type { LoggedExchange } from '../../features/request-log/request-log.js'
import { toCurl, toExpectation } from '../../features/request-log/snippets.js'
import { FORM } from '../../http/form.js'
import type { Call } from '../calls.js'
import { kinds } from '../kinds.js'
import type { Page } from '../page.js'
import { addressOf, href } from '../page.js'
import { CallForm, control, SameCall } from './forms.js'
import type { Column } from './parts.js'
import { Card, Copyable, Facts, HttpStatus, Json, Table, Time } from './parts.js'
import { Choice } from './records.js'

/** The most requests of a page. */
const MOST_ROWS = 50
const METHODS = ['GET', 'POST', 'PATCH', 'DELETE'] as const

/** The requests of the app, newest first. */
export async function requestsView(page: Page) {
  const { tenant, query, context } = page
  const { method, path, status, errors, hints, cursor } = query
  const { rows, dropped, older } = await newestRequests(page)
  const filter = { method, path, status, errors, hints }
  const isFiltered = Object.values(filter).some(value => value !== undefined)
  const columns: readonly Column<LoggedExchange>[] = [
    {
      title: 'Request',
      cell: ({ seq, method, path }) => (
        <a href={href(page, `/requests/${seq}`)}>
          <b>{method}</b> {path}
        </a>
      ),
    },
    { title: 'Status', cell: ({ status }) => <HttpStatus of={status} /> },
    {
      title: 'Error',
      isWide: true,
      cell: ({ status, responseBody }) => (status ?? 400) >= 400 && codeOf(responseBody),
    },
    { title: 'ms', class: 'number', isWide: true, cell: ({ durationMs }) => durationMs },
    { title: 'At', isWide: true, cell: ({ at }) => <Time at={at} /> },
    {
      title: 'Notes',
      isWide: true,
      cell: ({ faults, hints }) =>
        [
          ...faults.map(({ kind }) => `fault: ${kind}`),
          ...(hints.length > 0 ? [hints.length === 1 ? '1 hint' : `${hints.length} hints`] : []),
        ].join(', '),
    },
  ]
  return (
    <Card
      id="table"
      title="What the app sent and got"
      aside={
        <a href={href(page, '/requests.har')} download>
          Download all as HAR
        </a>
      }
    >
      <form method="get" action={addressOf(page, 'console/requests')} class="filters">
        <input type="hidden" name="client" value={tenant.clientId} />
        <Choice name="method" label="Method" values={METHODS} chosen={method} />
        <div class="field">
          <label for="path">Path</label>
          <input id="path" name="path" value={path ?? ''} placeholder="/api/v1/*" autocomplete="off" />
        </div>
        <div class="field">
          <label for="status">Status</label>
          <input id="status" name="status" value={status ?? ''} inputMode="numeric" size={4} autocomplete="off" />
        </div>
        <Tick name="errors" label="Errors only" isOn={errors !== undefined} />
        <Tick name="hints" label="With hints" isOn={hints !== undefined} />
        <button type="submit" class="plain">
          Filter
        </button>
        {isFiltered && <a href={href(page, '/requests')}>All</a>}
      </form>
      <Table
        caption="Requests"
        columns={columns}
        rows={rows}
        keyOf={({ seq }) => `request-${seq}`}
        empty={
          isFiltered
            ? 'No request fits this filter.'
            : `No request yet. Point your app at ${context.registry.publicUrl()}/api/v1 as client ${tenant.clientId}: its requests appear here by themselves.`
        }
      />
      <nav class="pager" aria-label="Pages">
        {cursor !== undefined && <a href={href(page, '/requests', filter)}>Newest</a>}
        {older !== undefined && <a href={href(page, '/requests', { ...filter, cursor: older })}>Older</a>}
      </nav>
      {dropped > 0 && <p class="hint">The log has dropped {dropped} older requests to make room.</p>}
      <div class="actions">
        <CallForm page={page} id="clear" call={control(page, 'DELETE', '/requests')} label="Clear the log" isPlain />
      </div>
      <SameCall
        page={page}
        id="log"
        calls={[control(page, 'GET', '/requests'), control(page, 'DELETE', '/requests')]}
      />
    </Card>
  )
}

const Tick = ({ name, label, isOn }: { name: string; label: string; isOn: boolean }) => (
  <label class="tick">
    <input type="checkbox" name={name} value="1" checked={isOn} /> {label}
  </label>
)

/** One page of the log, newest first. */
async function newestRequests({ tenant, query, context }: Page) {
  const { method, path, status, errors, hints, cursor } = query
  const { data, dropped } = await context.requestLog.list(tenant.clientId, {
    ...{ method, path, errors: errors !== undefined, hints: hints !== undefined },
    ...(status !== undefined && { status: Number(status) }),
    ...(cursor !== undefined && { before: Number(cursor) }),
    limit: MOST_ROWS + 1,
  })
  const rows = data.slice(-MOST_ROWS)
  return { rows: rows.toReversed(), dropped, older: data.length > MOST_ROWS ? String(rows[0]?.seq) : undefined }
}

/** The form that sends a request again. A refusal is an answer of it, too. */
export const REPEAT = 'repeat'

const codeOf = (body: unknown) => (body as { code?: string } | null)?.code

/** One request, with its answer. */
export async function requestView(page: Page) {
  const { tenant, params, context } = page
  const seq = Number(params.seq)
  const { data } = await context.requestLog.list(tenant.clientId, { after: seq - 1, before: seq + 1 })
  const [exchange] = data
  if (exchange === undefined) throw errors.requestNotFound(params.seq as string)
  const { method, path, query, headers, body, status, responseHeaders, responseBody, durationMs, at, faults, hints } =
    exchange
  const url = context.registry.publicUrl()
  const call: Call = {
    method,
    target: toAddress(exchange, ''),
    region: headers['x-region'] as 'EU',
    ...(body !== null && typeof body === 'object' && { body }),
  }
  const code = (status ?? 400) >= 400 ? codeOf(responseBody) : undefined
  const canRepeat =
    path.startsWith('/api/v1/') && mediaTypeOf(headers) !== FORM && (body === null || typeof body === 'object')
  return (
    <>
      <p class="headline">
        <HttpStatus of={status} />
        <code>
          {method} {path}
        </code>
      </p>
      <div class="columns">
        <Card id="facts" title="In short">
          <Facts
            facts={[
              ['At', <Time at={at} />],
              ['Took', `${durationMs} ms`],
              ['Error', code && <ErrorMeaning page={page} code={code} />],
              ['Record', linkToNamed(page, body, responseBody)],
              [
                'Hints',
                hints.length > 0 ? (
                  <ul>
                    {hints.map(hint => (
                      <li key={hint}>{hint}</li>
                    ))}
                  </ul>
                ) : undefined,
              ],
              ['Faults', faults.length > 0 ? faults.map(({ id, kind }) => `${id} (${kind})`).join(', ') : undefined],
            ]}
          />
        </Card>
        <Card id="again" title="Use it">
          {canRepeat && <CallForm page={page} id={REPEAT} call={call} label="Send again" next="/requests" />}
          {!canRepeat && (
            <p class="hint">It cannot be sent again: the log masks its secrets, or does not keep its body.</p>
          )}
          <h3>As curl</h3>
          <Copyable label="Copy as curl" text={toCurl(exchange, url)} />
          <h3>As test</h3>
          <Copyable label="Copy as test" text={toExpectation(exchange)} />
        </Card>
      </div>
      <Card id="request" title="Request">
        <Facts facts={parametersOf(query)} />
        <Headers headers={headers} id="request-headers" />
        {body === null ? <p class="hint">No body.</p> : <Json label="The body of the request" value={body} />}
      </Card>
      <Card id="answer" title="Answer">
        <Headers headers={responseHeaders} id="answer-headers" />
        {responseBody === null ? (
          <p class="hint">No body.</p>
        ) : (
          <Json label="The body of the answer" value={responseBody} />
        )}
      </Card>
    </>
  )
}

const Headers = ({ headers, id }: { headers: Readonly<Record<string, string>>; id: string }) => (
  <details id={id}>
    <summary>{Object.keys(headers).length} headers</summary>
    <Facts facts={Object.entries(headers)} />
  </details>
)

/** An error code, its meaning, and its place in the reference. */
function ErrorMeaning({ page, code }: { page: Page; code: string }) {
  const entry = catalogue[code as keyof typeof catalogue]
  return (
    <>
      <a href={addressOf(page, '../docs')}>{code}</a>
      {entry && <>: {entry.when.replaceAll('`', '')}</>}
    </>
  )
}

/** A link to the record that a request or its answer names. */
function linkToNamed(page: Page, body: unknown, answer: unknown) {
  const members = { ...(body as object | null), ...(answer as object | null) } as Readonly<Record<string, unknown>>
  const kind = kinds.find(({ idField, explain }) => explain && typeof members[idField] === 'string')
  if (kind === undefined) return undefined
  const reference = String(members[kind.idField])
  return <a href={href(page, `${kind.path}/${encodeURIComponent(reference)}`)}>{reference}</a>
}
