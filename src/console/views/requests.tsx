import type { CatalogueEntry, ErrorCode, ErrorEnvelope } from '../../core/errors.js'
import { catalogue, errors, shorten } from '../../core/errors.js'
import { isObject } from '../../http/json-body.js'
import { Card, Facts } from '../../http/pages/parts.js'
import { codesOf } from '../../openapi/errors.js'
import type { DocumentedRoute } from '../../openapi/routes.js'
import { parametersOf, addressOf as targetOf } from '../../sandbox/request-log/address.js'
import { toCurl, toExpectation } from '../../sandbox/request-log/snippets.js'
import type { LoggedExchange, RequestFilter } from '../../sandbox/request-log/state.js'
import { control, obstacleOf } from '../calls.js'
import type { AnyRecord, Kind } from '../kinds.js'
import { findRecord, kindOfRecord, referenceOf } from '../kinds.js'
import { counted } from '../notices.js'
import type { ConsoleContext, Fields, Page } from '../page.js'
import { addressOf, href, LONGEST_TEXT } from '../page.js'
import { Form, SameCall } from './forms.js'
import type { Column } from './parts.js'
import { Copyable, HttpStatus, Json, Pager, Scroll, Table, Time } from './parts.js'
import { Filter, Filters, isSet, linkTo } from './records.js'

const MOST_ROWS = 50
const METHODS = ['GET', 'POST', 'PATCH', 'DELETE'] as const

/** Returns the error of an answer, as far as it has one: a fault can answer anything. */
function errorIn(exchange: LoggedExchange): Partial<ErrorEnvelope> {
  // The body is parsed when it is read.
  const body = (exchange.status ?? 0) >= 400 ? exchange.responseBody : undefined
  return isObject(body) ? body : {}
}

/** The message of a refusal, with the field that it is about, or the fault that cut the answer or took it away. */
function Cause({ of: exchange }: { of: LoggedExchange }) {
  if (exchange.status === null) return <p class="cause">{lossOf(exchange)}</p>
  const { message, field } = errorIn(exchange)
  const { id, kind } = takerOf(exchange)
  if (kind === 'truncate') return <p class="cause">{`A fault cut the answer: ${id} (${kind}).`}</p>
  if (typeof message !== 'string') return null
  const isNamed = typeof field !== 'string' || message.toLowerCase().includes(field.toLowerCase())
  return (
    <p class="cause">
      {!isNamed && [<code key="field">{shorten(field)}</code>, ': ']}
      {message.slice(0, LONGEST_TEXT)}
    </p>
  )
}

/** Returns the fault that took an answer away. */
const takerOf = ({ faults }: LoggedExchange): Partial<LoggedExchange['faults'][number]> =>
  faults.find(({ kind }) => kind !== 'delay') ?? {}

/** Says which fault took an answer away, and whether the request was applied. */
function lossOf(exchange: LoggedExchange): string {
  const { id, kind, when, status = 0 } = takerOf(exchange)
  const fate = when === 'before' ? 'not applied' : status >= 400 ? `refused with ${status}` : 'applied'
  return `A fault took the answer away: ${id} (${kind}). The request was ${fate}.`
}

/** Returns the filter that the address of a page has, for other addresses, and for the log. */
function filterOf({ method, path, status, errors, hints }: Page['query']) {
  // Like the reference of a list, a path is found by a part of it.
  const glob = path === undefined || path.includes('*') ? path : `*${path}*`
  const filter = { method, path, status, errors, hints }
  return {
    filter,
    isFiltered: isSet(filter),
    ofLog: { method, path: glob, status, errors: errors !== undefined, hints: hints !== undefined },
  }
}

/** The requests of the app, newest first. */
export async function requestsView(page: Page) {
  const { tenant, query, context } = page
  const { errors, hints, cursor } = query
  const { filter, ofLog, isFiltered } = filterOf(query)
  const { data, dropped } = await context.requestLog.list(tenant.clientId, {
    ...ofLog,
    ...(cursor !== undefined && { before: Number(cursor) }),
    limit: MOST_ROWS + 1,
  })
  const rows = data.slice(-MOST_ROWS)
  const targets = new Map(rows.map(row => [row, shorten(targetOf(row, ''))]))
  const older = data.length > MOST_ROWS && href(page, '/requests', { ...filter, cursor: String(rows[0]?.seq) })
  const columns: readonly Column<LoggedExchange>[] = [
    [
      'Request',
      exchange => (
        <>
          <a href={href(page, `/requests/${exchange.seq}`, filter)}>
            <b>{exchange.method}</b> {targets.get(exchange)}
          </a>
          <Cause of={exchange} />
        </>
      ),
    ],
    ['Status', ({ status }) => <HttpStatus of={status} />],
    ['Error', exchange => errorIn(exchange).code, 'wide'],
    ['ms', ({ durationMs }) => durationMs, 'wide number'],
    ['At', ({ at }) => <Time at={at} />, 'wide'],
    [
      'Notes',
      ({ faults, hints }) =>
        [
          ...faults.map(({ kind }) => `fault: ${kind}`),
          ...(hints.length > 0 ? [counted(hints.length, 'hint')] : []),
        ].join(', '),
      'wide',
    ],
  ]
  const clear = { id: 'clear', label: 'Clear the whole log', call: control('DELETE /requests') }
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
      <Filters page={page}>
        <Filter page={page} name="method" values={METHODS} />
        <Filter page={page} name="path" example="mandates" />
        <Filter page={page} name="status" example="404 or 4xx" />
        <Tick name="errors" label="Errors only" isOn={errors !== undefined} />
        <Tick name="hints" label="With hints" isOn={hints !== undefined} />
      </Filters>
      <Table
        caption="Requests"
        columns={columns}
        rows={rows.toReversed()}
        keyOf={({ seq }) => `request-${seq}`}
        empty={
          isFiltered
            ? 'No request fits this filter.'
            : `No request yet. Point your app at ${page.publicUrl}/api/v1 as client ${tenant.clientId}: its requests appear here by themselves.`
        }
      />
      <Pager links={{ Newest: cursor !== undefined && href(page, '/requests', filter), Older: older }} />
      {dropped > 0 && <p class="hint">The log has dropped {dropped} older requests to make room.</p>}
      <div class="actions">
        <Form page={page} action={clear} />
      </div>
      <SameCall page={page} id="log" actions={[{ label: 'The list', call: control('GET /requests') }, clear]} />
    </Card>
  )
}

const Tick = ({ name, label, isOn }: { name: string; label: string; isOn: boolean }) => (
  <label class="tick">
    <input type="checkbox" id={name} name={name} value="1" checked={isOn} /> {label}
  </label>
)

/** The form that sends the request of a page again. A refusal is an answer of it, too. */
export const REPEAT = 'repeat'

/** Returns a request of the log. @throws REQUEST_NOT_FOUND */
export async function findRequest({ requestLog }: ConsoleContext, client: string, { seq = '' }: Fields) {
  const { data } = await requestLog.list(client, { after: Number(seq) - 1, before: Number(seq) + 1 })
  const [logged] = data
  if (logged === undefined) throw errors.requestNotFound(seq)
  return logged
}

/** Returns the ways to the requests before and after one that fit the filter of its address, and to their list. */
async function waysFrom(page: Page) {
  const { tenant, params, query, context } = page
  const { filter, ofLog, isFiltered } = filterOf(query)
  const seq = Number(params.seq)
  const list = (bounds: RequestFilter) => context.requestLog.list(tenant.clientId, { ...ofLog, ...bounds })
  const [previous] = (await list({ before: seq, limit: 1 })).data
  const [next] = (await list({ after: seq, before: isFiltered ? undefined : seq + 2 })).data
  return {
    'Back to the list': isFiltered && href(page, '/requests', filter),
    'Previous request': previous && href(page, `/requests/${previous.seq}`, filter),
    'Next request': next && href(page, `/requests/${next.seq}`, filter),
  }
}

export async function requestView(page: Page) {
  const { tenant, params, context } = page
  const exchange = await findRequest(context, tenant.clientId, params)
  const { method, headers, durationMs, at, faults, hints } = exchange
  const taker = takerOf(exchange)
  const { code } = errorIn(exchange)
  const obstacle = obstacleOf(exchange)
  const isShort = JSON.stringify(exchange.body).length <= LONGEST_BODY
  const body = isShort ? exchange.body : '(too long for a page)'
  return (
    <>
      <p class="headline">
        <HttpStatus of={exchange.status} />
        <code>
          {method} {targetOf(exchange, '')}
        </code>
      </p>
      <Cause of={exchange} />
      <ul class="hints">
        {hints.map(hint => (
          <li key={hint}>{hint}</li>
        ))}
      </ul>
      <Pager links={await waysFrom(page)} />
      <div class="columns">
        <Message
          page={page}
          id="request"
          title="Request"
          query={exchange.query}
          headers={headers}
          body={exchange.body}
          text={exchange.text}
        />
        {exchange.status === null ? (
          <Card id="answer" title="Answer">
            <p>
              No answer was sent: the fault <a href={href(page, '/failures')}>{taker.id}</a>{' '}
              {taker.kind === 'garbage' ? 'sent bytes that are not HTTP' : 'closed the connection'}.
            </p>
          </Card>
        ) : (
          <Message
            page={page}
            id="answer"
            title="Answer"
            headers={exchange.responseHeaders}
            body={exchange.responseBody}
          />
        )}
      </div>
      <div class="columns">
        <Card id="facts" title="In short">
          <Facts
            facts={[
              ['At', <Time key="at" at={at} />],
              ['Took', `${durationMs} ms`],
              ['Error', entryOf(code) ? <a href={href(page, `/errors/${code}`)}>{code}</a> : code],
              ['Record', linkToNamed(page, exchange)],
              ['Faults', faults.length > 0 ? faults.map(({ id, kind }) => `${id} (${kind})`).join(', ') : null],
            ]}
          />
        </Card>
        <Card id="again" title="Use it">
          {obstacle === undefined ? (
            <form id={REPEAT} method="post" action={href(page, page.path)} class="action">
              <input type="hidden" name="form" value={REPEAT} />
              <button type="submit" class="primary">
                Send again
              </button>
            </form>
          ) : (
            <p class="hint">{obstacle}</p>
          )}
          <h3>As curl</h3>
          <Copyable as="curl" text={toCurl({ ...exchange, body }, page.publicUrl)} />
          <h3>As test</h3>
          <Copyable as="test" text={toExpectation(isShort ? exchange : { ...exchange, body: null })} />
        </Card>
      </div>
    </>
  )
}

type MessageProps = Pick<LoggedExchange, 'headers' | 'body'> &
  Partial<LoggedExchange> & { page: Page; id: string; title: string }

const Message = ({ page, id, title, query = {}, headers, body, text }: MessageProps) => (
  <Card id={id} title={title}>
    <Facts facts={parametersOf(query)} />
    <details id={`${id}-headers`}>
      <summary>{Object.keys(headers).length} headers</summary>
      <Facts facts={Object.entries(headers)} />
    </details>
    {text !== undefined && (
      <Scroll label={`The text: ${title}`} class="code">
        <code>{text}</code>
      </Scroll>
    )}
    {body === null || text !== undefined ? (
      <p class="hint">{String(body ?? 'No body.')}</p>
    ) : (
      <Body page={page} label={`The body: ${title}`} body={body} />
    )}
  </Card>
)

/** The longest body that a page shows as a whole, in characters of JSON. */
const LONGEST_BODY = 20_000

/** A body, or the first part of a long one with a link to the whole. */
function Body({ page, label, body }: { page: Page; label: string; body: unknown }) {
  const text = JSON.stringify(body)
  if (text.length <= LONGEST_BODY) return <Json label={label} value={body} />
  return (
    <>
      <Scroll label={label} class="code">
        <code>{`${text.slice(0, LONGEST_BODY)}…`}</code>
      </Scroll>
      <p class="hint">
        The first {LONGEST_BODY} of {text.length} characters.{' '}
        <a href={href(page, `${page.path}/request.json`)} download>
          Download the request as JSON
        </a>
      </p>
    </>
  )
}

const entryOf = (code: unknown): CatalogueEntry | undefined =>
  typeof code === 'string' && Object.hasOwn(catalogue, code) ? catalogue[code as ErrorCode] : undefined

/** A link to the record that a request or its answer names. A refused request made none, but one can have its reference. */
function linkToNamed(page: Page, { status, body, responseBody }: LoggedExchange) {
  if (status !== null && status >= 400 && status !== 409) return undefined
  for (const record of [responseBody, body].filter(isObject)) {
    const kind = kindOfRecord(record)
    if (kind?.lifecycle && isKnown(page, kind, record)) return linkTo(page, kind, { region: '', record })
  }
  return undefined
}

/** Whether the client has the record. A request can have any value. */
const isKnown = ({ tenant }: Page, kind: Kind, record: AnyRecord) =>
  typeof record[kind.reference] === 'string' && findRecord(tenant, kind, referenceOf(kind, record)) !== undefined

/** The entry of an error code in the catalogue. */
export function ErrorEntry({ page }: { page: Page }) {
  const code = page.params.code as ErrorCode
  const entry = entryOf(code)
  if (entry === undefined) throw errors.routeNotFound()
  const isOther = ({ url }: DocumentedRoute) => Number(!url.startsWith('/api/'))
  const operations = page.context.documented
    .filter(route => codesOf(route).includes(code))
    .sort((one, other) => isOther(one) - isOther(other))
    .map(({ method, url }) => <li key={method + url}>{`${method} ${url.replace(/:(\w+)/g, '{$1}')}`}</li>)
  return (
    <Card id="entry" title="What it means" aside={<a href={addressOf(page, '../docs')}>Interface</a>}>
      <p>{entry.when.replaceAll('`', '')}</p>
      <Facts
        facts={[
          ['Status', <HttpStatus key="status" of={entry.status} />],
          [
            'Fidelity',
            `${entry['x-fidelity']}: the service documents that each error has a code, but no list of codes`,
          ],
          ['Operations', <ul key="operations">{operations}</ul>],
        ]}
      />
      <SameCall page={page} id="errors" actions={[{ label: 'The catalogue', call: control('GET /errors') }]} />
    </Card>
  )
}
