/** The overview of a client: how an app connects, the story, what comes next and what happened. */

import { toCurl } from '../../sandbox/request-log/snippets.js'
import { ROOT } from '../address.js'
import { RecordLink, useApp, useOwn } from '../app.js'
import { causeOf } from '../format.js'
import type { Column } from '../parts.js'
import { Card, Copyable, Facts, Status, Table, Time } from '../parts.js'
import type { Coming, Event } from '../types.js'
import { Story } from './story.js'

const MOST_ROWS = 10
/** The documented secret of the demo client. */
const KNOWN_SECRET = 'sandbox-secret'
/** The latest events that are put in order by time: seeded ones are in the order of their files. */
const MOST_COMPARED = 200

export function Overview() {
  const { data: coming } = useOwn<{ data: Coming[] }>(`/_sandbox/upcoming?limit=${MOST_ROWS}`)
  const { data: events } = useOwn<{ data: Event[] }>(`/_sandbox/events?limit=${MOST_COMPARED}`)
  const latest = (events?.data ?? [])
    .toReversed()
    .sort((one, other) => Number(one.at < other.at) - Number(one.at > other.at))
    .slice(0, MOST_ROWS)
  const next: readonly Column<Coming>[] = [
    [
      'Record',
      ({ kind, reference, region }) => <RecordLink kind={kind} reference={reference} region={region} />,
      'reference',
    ],
    ['Becomes', ({ to }) => <Status of={to} />],
    ['At', ({ at }) => <Time at={at} />],
    ['Cause', ({ failed, cause }) => failed ?? causeOf(cause), 'wide'],
  ]
  const happened: readonly Column<Event>[] = [
    ['Record', ({ kind, reference }) => <RecordLink kind={kind} reference={reference} />, 'reference'],
    ['Became', ({ to, reasonCode }) => [<Status key={to} of={to} />, ' ', reasonCode]],
    ['At', ({ at }) => <Time at={at} />],
    ['Cause', ({ cause }) => causeOf(cause), 'wide'],
  ]
  return (
    <>
      <Connect />
      <Story />
      <div class="columns">
        <Card id="next" title="Next">
          <Table
            caption="Next"
            columns={next}
            rows={coming?.data ?? []}
            keyOf={({ kind, reference, region }) => `${kind}-${region}-${reference}`}
            empty={coming && 'Nothing is due. A new collection or payout link has its next transition here.'}
          />
        </Card>
        <Card id="latest" title="Latest">
          <Table
            caption="Latest"
            columns={happened}
            rows={latest}
            keyOf={({ seq }) => `${seq}`}
            empty={events && 'Nothing has happened yet. Every change of a state is listed here, with its cause.'}
          />
        </Card>
      </div>
    </>
  )
}

/** What an app needs to act as the client, and the command of its first token. */
function Connect() {
  const { client, own } = useApp()
  const secret = own.hasKnownSecret ? KNOWN_SECRET : undefined
  const body = { grant_type: 'client_credentials', client_id: client, client_secret: secret ?? '***' }
  const url = ROOT.replace(/\/$/, '')
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const token = { method: 'POST', path: '/api/v1/oauth/token', query: {}, headers, body }
  return (
    <Card id="connect" title="Connect your app">
      <div class="connect">
        <Facts
          facts={[
            ['Base address', <code key="address">{`${url}/api/v1`}</code>],
            ['Client id', <code key="id">{client}</code>],
            [
              'Client secret',
              secret ? <code key="secret">{secret}</code> : 'the one of its settings or its first token',
            ],
          ]}
        />
        <Copyable as="as curl" text={toCurl(token, url)} />
      </div>
    </Card>
  )
}
