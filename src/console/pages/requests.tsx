/** The requests of the app, and one of them. */

import { addressOf, mediaTypeOf, parametersOf } from '../../sandbox/request-log/address.js'
import { toCurl, toExpectation } from '../../sandbox/request-log/snippets.js'
import { queryOf, ROOT } from '../address.js'
import { read, withClient } from '../api.js'
import { RecordLink, useApp, useOwn } from '../app.js'
import { counted } from '../format.js'
import { Form, SameCall, useSend } from '../forms.js'
import type { Column } from '../parts.js'
import { Card, Copyable, Facts, HttpStatus, Json, Pager, Refused, Scroll, Table, Time } from '../parts.js'
import type { LoggedRequest, Refusal } from '../types.js'
import { ChoiceFilter, TextFilter } from './records.js'

const MOST_ROWS = 50
const METHODS = ['GET', 'POST', 'PATCH', 'DELETE'] as const

/** Returns the error of an answer, as far as it has one: a fault can answer anything. */
const errorIn = ({ status, responseBody }: LoggedRequest): Partial<Refusal> =>
  (status ?? 0) >= 400 ? (Object(responseBody) as Partial<Refusal>) : {}

/** Returns the fault that took an answer away. */
const takerOf = ({ faults }: LoggedRequest): Partial<LoggedRequest['faults'][number]> =>
  faults.find(({ kind }) => kind !== 'delay') ?? {}

/** The message of a refusal, with the field that it is about, or the fault that cut the answer or took it away. */
export function Cause({ of: request }: { of: LoggedRequest }) {
  if (request.status === null) return <p class="cause">{lossOf(request)}</p>
  const { message, field } = errorIn(request)
  const { id, kind } = takerOf(request)
  if (kind === 'truncate') return <p class="cause">{`A fault cut the answer: ${id} (${kind}).`}</p>
  if (typeof message !== 'string') return null
  const isNamed = typeof field !== 'string' || message.toLowerCase().includes(field.toLowerCase())
  return (
    <p class="cause">
      {!isNamed && (
        <>
          <code>{field}</code>:{' '}
        </>
      )}
      {message.slice(0, 1000)}
    </p>
  )
}

/** Says which fault took an answer away, and whether the request was applied. */
function lossOf(request: LoggedRequest): string {
  const { id, kind, when, status = 0 } = takerOf(request)
  const fate = when === 'before' ? 'not applied' : status >= 400 ? `refused with ${status}` : 'applied'
  return `A fault took the answer away: ${id} (${kind}). The request was ${fate}.`
}

/** Whether a request was sent by a page of this console. */
export const isOfConsole = ({ headers }: LoggedRequest): boolean => headers['sandbox-sender'] === 'console'

/** Returns the filter of an address as parameters of the log. Like the reference of a list, a path is found by a part of it. */
function filterOf({ method, path, status, errors, hints, reference }: Readonly<Record<string, string>>) {
  const filter = { method, path, status, errors, hints, reference }
  const glob = path === undefined || path.includes('*') ? path : `*${path}*`
  return { filter, parameters: queryOf({ ...filter, path: glob }) }
}

interface List {
  readonly data: readonly LoggedRequest[]
  readonly dropped: number
}

export function Requests() {
  const { client, address, href, go } = useApp()
  const { cursor, ...query } = address.query
  const { filter, parameters } = filterOf(query)
  const bounds = `limit=${MOST_ROWS + 1}${cursor === undefined ? '' : `&before=${encodeURIComponent(cursor)}`}`
  const { data, error } = useOwn<List>(`/_sandbox/requests?${parameters && `${parameters}&`}${bounds}`)
  const rows = data?.data.slice(-MOST_ROWS) ?? []
  const isFiltered = parameters !== ''
  const older = (data?.data.length ?? 0) > MOST_ROWS && href('/requests', { ...filter, cursor: String(rows[0]?.seq) })
  const tick = (name: 'errors' | 'hints', label: string) => (
    <label class="tick">
      <input
        type="checkbox"
        id={name}
        checked={query[name] !== undefined}
        onChange={event =>
          go(href('/requests', { ...filter, [name]: event.currentTarget.checked ? 'true' : undefined }))
        }
      />{' '}
      {label}
    </label>
  )
  const columns: readonly Column<LoggedRequest>[] = [
    [
      'Request',
      request => (
        <>
          <a href={href(`/requests/${request.seq}`, filter)}>
            <b>{request.method}</b> {addressOf(request).slice(0, 300)}
          </a>
          <Cause of={request} />
        </>
      ),
    ],
    ['Status', ({ status }) => <HttpStatus of={status} />],
    ['Records', ({ records }) => <RecordLinks of={records.slice(0, 3)} />, 'wide'],
    ['Error', request => errorIn(request).code, 'wide'],
    ['Client time', ({ at }) => <Time at={at} />, 'wide'],
    ['Real time', ({ receivedAt }) => <Time at={receivedAt} />, 'wide'],
    ['Notes', notesOf, 'wide'],
  ]
  return (
    <Card
      id="table"
      title="What the app sent and got"
      aside={
        <a
          href={new URL(`_sandbox/requests?format=har&${new URLSearchParams({ client })}`, ROOT).href}
          download={`${client}-requests.har`}
        >
          Download all as HAR
        </a>
      }
    >
      <div class="filters">
        <ChoiceFilter name="method" values={METHODS} />
        <TextFilter name="path" label="Path" example="mandates" />
        <TextFilter name="status" label="Status" example="404 or 4xx" />
        <TextFilter name="reference" label="Reference" />
        {tick('errors', 'Errors only')}
        {tick('hints', 'With hints')}
        {isFiltered && <a href={href('/requests')}>All</a>}
      </div>
      {error && <Refused error={error} />}
      {data && (
        <>
          <Table
            caption="Requests"
            columns={columns}
            rows={rows.toReversed()}
            keyOf={({ seq }) => `request-${seq}`}
            empty={
              isFiltered
                ? 'No request fits this filter.'
                : `No request yet. Point your app at ${ROOT}api/v1 as client ${client}: its requests appear here by themselves.`
            }
          />
          <Pager links={{ Newest: cursor !== undefined && href('/requests', filter), Older: older }} />
          {data.dropped > 0 && <p class="hint">The log has dropped {data.dropped} older requests to make room.</p>}
        </>
      )}
      <div class="actions">
        <Form id="clear" label="Clear the whole log" call={{ method: 'DELETE', path: '/_sandbox/requests' }} />
      </div>
      <SameCall
        calls={[
          ['The list', { method: 'GET', path: `/_sandbox/requests${parameters && `?${parameters}`}` }],
          ['Clear the whole log', { method: 'DELETE', path: '/_sandbox/requests' }],
        ]}
      />
    </Card>
  )
}

const notesOf = (request: LoggedRequest): string =>
  [
    ...request.faults.map(({ kind }) => `fault: ${kind}`),
    ...(request.hints.length > 0 ? [counted(request.hints.length, 'hint')] : []),
    ...(isOfConsole(request) ? ['console'] : []),
  ].join(', ')

const RecordLinks = ({ of: records }: { of: LoggedRequest['records'] }) => (
  <ul class="links">
    {records.map(({ kind, reference }) => (
      <li key={`${kind}-${reference}`}>
        <RecordLink kind={kind} reference={reference} />
      </li>
    ))}
  </ul>
)

/** Returns why a request of the log cannot be sent again, or undefined if it can. The log masks secrets, and keeps no files. */
function obstacleOf(request: LoggedRequest): string | undefined {
  const { path, headers, body } = request
  if (mediaTypeOf(headers) === 'application/x-www-form-urlencoded')
    return 'It cannot be sent again: the log masks the secrets of its form.'
  if (!path.startsWith('/api/v1/')) return 'It cannot be sent again: its path does not belong to the API.'
  if (new URL(addressOf({ path, query: {} }), 'http://sandbox').pathname !== addressOf({ path, query: {} }))
    return 'It cannot be sent again: a URL resolves the segments . and .. of its path.'
  if (typeof body !== 'object') return 'It cannot be sent again: the log has no JSON body of it.'
  return undefined
}

/** The longest body that is part of a command, in characters of JSON. */
const LONGEST_BODY = 20_000

export function Request({ seq }: { seq: string }) {
  const { address, href } = useApp()
  const { filter, parameters } = filterOf(address.query)
  const { data: request, error } = useOwn<LoggedRequest>(`/_sandbox/requests/${encodeURIComponent(seq)}`)
  const list = `/_sandbox/requests?${parameters && `${parameters}&`}`
  const { data: before } = useOwn<List>(`${list}limit=1&before=${Number(seq) || 1}`)
  const { data: after } = useOwn<List>(`${list}after=${Number(seq) || 0}`)
  if (error) return <Refused error={error} />
  if (request === undefined) return null
  const { method, durationMs, at, receivedAt, faults, hints, records, status } = request
  const { code } = errorIn(request)
  const isShort = JSON.stringify(request.body).length <= LONGEST_BODY
  const shown = isShort ? request : { ...request, body: '(too long for a page)' }
  const previous = before?.data.at(-1)
  const next = after?.data[0]
  return (
    <>
      <p class="headline">
        <HttpStatus of={status} />
        <code>
          {method} {addressOf(request)}
        </code>
      </p>
      <Cause of={request} />
      <ul class="hints">
        {hints.map(hint => (
          <li key={hint}>{hint}</li>
        ))}
      </ul>
      <Pager
        links={{
          'Back to the list': parameters !== '' && href('/requests', filter),
          'Previous request': previous && href(`/requests/${previous.seq}`, filter),
          'Next request': next && href(`/requests/${next.seq}`, filter),
        }}
      />
      <div class="columns">
        <Message id="request" title="Request" {...request} headers={request.headers} body={request.body} />
        {status === null ? (
          <Card id="answer" title="Answer">
            <p>{lossOf(request)}</p>
          </Card>
        ) : (
          <Message id="answer" title="Answer" headers={request.responseHeaders} body={request.responseBody} />
        )}
      </div>
      <div class="columns">
        <Card id="facts" title="In short">
          <Facts
            facts={[
              ['Time of the client', <Time key="at" at={at} />],
              ['Real time', <Time key="received" at={receivedAt} />],
              ['Took', `${durationMs} ms`],
              [
                'Error',
                typeof code === 'string' ? <a href={href(`/errors/${encodeURIComponent(code)}`)}>{code}</a> : null,
              ],
              ['Records', records.length > 0 ? <RecordLinks of={records} /> : null],
              ['Faults', faults.length > 0 ? faults.map(({ id, kind }) => `${id} (${kind})`).join(', ') : null],
              ['Sent by', isOfConsole(request) ? 'this console' : null],
            ]}
          />
        </Card>
        <Card id="again" title="Use it">
          <Again request={request} />
          <h3>As curl</h3>
          <Copyable as="as curl" text={toCurl(shown, ROOT.replace(/\/$/, ''))} />
          <h3>As test</h3>
          <Copyable as="as test" text={toExpectation(isShort ? request : { ...request, body: null })} />
        </Card>
      </div>
    </>
  )
}

/** Sends a request of the log again, with a new token. */
function Again({ request }: { request: LoggedRequest }) {
  const { client, href, go, say } = useApp()
  const { act } = useSend()
  const obstacle = obstacleOf(request)
  if (obstacle !== undefined) return <p class="hint">{obstacle}</p>
  const { method, headers, body } = request
  const repeat = async () => {
    const path = addressOf(request)
    const call = { method, path, region: headers['x-region'], ...(body !== null && { body }) }
    await act(call, () => undefined)
    const { data } = await read<List>(withClient('/_sandbox/requests?limit=1', client))
    const [sent] = data
    say(
      sent === undefined
        ? 'Sent again. The log did not keep it.'
        : `Sent again with a new token. The answer was ${sent.status ?? 'taken away'}.`,
    )
    if (sent !== undefined) go(href(`/requests/${sent.seq}`))
  }
  return (
    <button type="button" onClick={repeat}>
      Send again
    </button>
  )
}

interface MessageProps {
  readonly id: string
  readonly title: string
  readonly query?: LoggedRequest['query']
  readonly headers: LoggedRequest['headers']
  readonly body: unknown
  readonly text?: string | undefined
}

const Message = ({ id, title, query = {}, headers, body, text }: MessageProps) => (
  <Card id={id} title={title}>
    <Facts facts={parametersOf(query)} />
    <details>
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
      <Json label={`The body: ${title}`} value={body} />
    )}
  </Card>
)
