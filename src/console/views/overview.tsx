import { shorten } from '../../core/errors.js'
import type { Event } from '../../core/records/events.js'
import { formatInstant } from '../../core/time/time.js'
import { Card } from '../../http/pages/parts.js'
import { upcoming } from '../../sandbox/clock/upcoming.js'
import { control } from '../calls.js'
import type { Kind } from '../kinds.js'
import { kindOfEvent, kinds, statesOf } from '../kinds.js'
import { formatMoment, partsOf } from '../moments.js'
import { paceOf } from '../notices.js'
import type { Page } from '../page.js'
import { href } from '../page.js'
import type { Action } from './forms.js'
import { Actions } from './forms.js'
import type { Column } from './parts.js'
import { causeOf, Status, Table, TableCard, Time } from './parts.js'
import { linkTo } from './records.js'
import type { ToldStory } from './story.js'
import { Connection, Story, sentFor, storyOf } from './story.js'

const MOST_EVENTS = 20
const MINUTE_MS = 60_000
const DAY_MS = 1440 * MINUTE_MS
/** The rows of the tables of coming and of latest events: both are on a phone, too. */
const MOST_ROWS = 10
/** The latest events of the log that are put in order by time: seeded ones are in the order of their files. */
const MOST_COMPARED = 1000

/** Returns the events of an action that moved the clock, newest first: those of the records of the story, and all others. */
function happenedIn({ tenant: { events }, query }: Page, story: ToldStory | undefined): readonly (readonly Event[])[] {
  const [after, until] = [Number(query.after), Math.min(Number(query.until), events.last())]
  if (!(after < until)) return []
  const ofStory = (story?.steps ?? []).flatMap(({ found }) => (found?.timeline ?? []).map(({ seq }) => seq))
  const first = [...new Set(ofStory)].filter(seq => seq > after && seq <= until).sort((a, b) => b - a)
  const newest = Array.from({ length: Math.min(until - after, MOST_EVENTS) }, (_, at) => until - at)
  const others = newest.filter(seq => !first.includes(seq)).slice(0, Math.max(0, MOST_EVENTS - first.length))
  return [first.slice(0, MOST_EVENTS), others].map(part => part.map(seq => events.at(seq) as Event))
}

/** Returns the latest events by their times. */
const latest = ({ events }: Page['tenant']) =>
  events
    .after(Math.max(0, events.last() - MOST_COMPARED))
    .reverse()
    .sort((one, other) => Number(one.at < other.at) - Number(one.at > other.at))
    .slice(0, MOST_ROWS)

/** The overview of a client: its time, what comes and what happened. */
export async function overviewView(page: Page) {
  const { tenant, query } = page
  const story = storyOf(page)
  const sent = await sentFor(page, story)
  const coming = upcoming(tenant, { limit: MOST_ROWS }).data
  const happened = happenedIn(page, story).filter(part => part.length > 0)
  const more = Number(query.until) - Number(query.after) - happened.flat().length
  const link = (kind: string, reference: string, region = '') => {
    const found = kindOfEvent(kind)
    return found === undefined ? reference : linkTo(page, found, { region, record: { [found.reference]: reference } })
  }
  const columns: readonly Column<Event>[] = [
    ['Record', ({ kind, reference }) => link(kind, reference), 'reference'],
    ['Became', ({ to, reasonCode }) => [<Status key={to} of={to} />, ' ', reasonCode]],
    ['At', ({ at }) => <Time at={at} />],
    ['Why', causeOf, 'wide'],
  ]
  return (
    <>
      <Clock page={page} next={coming[0]} isPrimary={coming.length > 0 && story === undefined} />
      {happened.length > 0 && (
        <Card id="happened" title="What happened" aside={more > 0 && <span>And {more} before these.</span>}>
          {happened.map((rows, at) => {
            const title = at > 0 ? 'All others, newest first' : 'Of the story'
            return [
              happened.length > 1 && <h3>{title}</h3>,
              <Table caption={title} columns={columns} rows={rows} keyOf={({ seq }) => `happened-${seq}`} empty="" />,
            ]
          })}
        </Card>
      )}
      {story && <Story page={page} story={story} sent={sent} />}
      {!story && kinds.every(({ name }) => tenant[name].size() === 0) && (
        <Card id="connect" title="Connect your app">
          <Connection page={page} />
        </Card>
      )}
      <div class="columns">
        <TableCard
          id="next"
          title="Next"
          columns={[
            ['Record', ({ kind, reference, region }) => link(kind, reference, region), 'reference'],
            ['Becomes', ({ to }) => <Status of={to} />],
            ['At', ({ at }) => <Time at={at} />],
            ['Why', event => event.failed ?? causeOf(event), 'wide'],
          ]}
          rows={coming}
          keyOf={({ kind, reference, region }) => `next-${kind}-${region}-${reference}`}
          empty="Nothing is due. A new collection or payout link has its next transition here."
        />
        <TableCard
          id="latest"
          title="Latest"
          columns={columns}
          rows={latest(tenant)}
          keyOf={({ seq }) => `latest-${seq}`}
          empty="Nothing has happened yet. Every change of a state is listed here, with its cause."
        />
      </div>
      <Card id="counts" title="Records">
        <ul class="counts">
          {kinds.map(kind => (
            <li key={kind.path}>
              <a href={href(page, kind.path)}>
                <strong>{tenant[kind.name].size()}</strong> {kind.title}
              </a>
              <ul>
                {countsOf(page, kind).map(([status, count]) => (
                  <li key={status}>
                    <a href={href(page, kind.path, { status })}>
                      <Status of={status} /> {count}
                    </a>
                  </li>
                ))}
              </ul>
            </li>
          ))}
        </ul>
      </Card>
    </>
  )
}

/** Lists the states of the records of a kind with their numbers, in the order of the lifecycle. */
const countsOf = ({ tenant }: Page, kind: Kind) =>
  statesOf(tenant, kind)
    .map(status => [status, tenant[kind.name].counts().get(status) ?? 0] as const)
    .filter(([, count]) => count > 0)

interface ClockProps {
  readonly page: Page
  readonly next: ReturnType<typeof upcoming>['data'][number] | undefined
  readonly isPrimary: boolean
}

/** The clock of the client, with its controls. */
function Clock({ page, next, isPrimary }: ClockProps) {
  const { clock } = page.tenant
  const now = formatInstant(clock.now())
  const isRunning = clock.mode() === 'running'
  const run = { mode: 'running', rate: clock.rate() }
  const rates = [...new Set([1, 60, 3600, 86_400, clock.rate()])].map(rate => [rate, paceOf(rate)] as const)
  // A running clock must not pass it before the form is sent.
  const ahead = Math.max(DAY_MS, isRunning ? clock.rate() * MINUTE_MS : 0)
  const advance = (body: object) => control('POST /clock/advance', body)
  const actions: Action[] = [
    {
      id: 'next-event',
      label: next ? `Next: ${shorten(next.reference)} ${next.to}, ${partsOf(next.at)[1]}` : 'Next event',
      call: advance({ toNextEvent: true }),
      look: isPrimary ? 'primary' : 'plain',
    },
    { id: 'advance-PT1H', label: '+1 hour', call: advance({ by: 'PT1H' }) },
    { id: 'advance-P1D', label: '+1 day', call: advance({ by: 'P1D' }) },
    { id: 'advance-P7D', label: '+1 week', call: advance({ by: 'P7D' }) },
    { id: 'advance-to', label: 'Go', call: advance({ to: formatInstant(clock.now() + ahead) }), fields: ['to'] },
    ...(isRunning ? [{ id: 'freeze', label: 'Freeze', call: control('PATCH /clock', { mode: 'frozen' }) }] : []),
    { id: 'run', label: 'Run', call: control('PATCH /clock', run), fields: ['rate'], choices: { rate: rates } },
  ]
  return (
    <section class="card clock" aria-label="Time">
      <p class="now">
        <time dateTime={now} data-rate={isRunning ? clock.rate() : undefined}>
          {formatMoment(clock.now())}
        </time>
      </p>
      <p class="pace">{isRunning ? `Runs ${paceOf(clock.rate())}.` : 'Frozen: it moves only by the buttons.'}</p>
      <Actions page={page} id="clock" actions={actions} />
    </section>
  )
}
