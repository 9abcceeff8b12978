import { upcoming } from '../../control/upcoming.js'
import type { Event } from '../../core/records/events.js'
import { formatInstant } from '../../core/time/time.js'
import { Moment } from '../../http/schemas.js'
import { paceOf } from '../calls.js'
import { kindOfEvent, kinds } from '../kinds.js'
import { countByStatus } from '../lists.js'
import { formatMoment } from '../moments.js'
import type { Page } from '../page.js'
import { href } from '../page.js'
import { CallForm, control, Field, refusalOf, SameCall } from './forms.js'
import type { Column } from './parts.js'
import { Card, Status, Table, Time } from './parts.js'
import { Story } from './story.js'

/** The most events of a list. */
const MOST_EVENTS = 20
const MOST_HAPPENED = 50

/** The overview of a client: its time, what comes and what happened. */
export function Overview({ page }: { page: Page }) {
  const { tenant, query } = page
  const { events } = tenant
  const last = events.last()
  const [after, until] = [Number(query.after), Number(query.until)]
  const happened =
    after >= 0 && until > after ? events.select(after, {}, Math.min(until - after, MOST_HAPPENED)).events : []
  return (
    <>
      <Clock page={page} />
      {happened.length > 0 && (
        <Card id="happened" title="What happened">
          <EventTable page={page} caption="What happened" events={happened} empty="" />
          {until - after > happened.length && (
            <p>And {until - after - happened.length} more, below Latest or on the records.</p>
          )}
        </Card>
      )}
      <Story page={page} />
      <div class="columns">
        <Card id="next" title="Next">
          <Table
            caption="The transitions that are due next"
            columns={[
              {
                title: 'Record',
                cell: ({ kind, reference, region }) => <RecordLink page={page} {...{ kind, reference, region }} />,
              },
              { title: 'Becomes', cell: ({ to }) => <Status of={to} /> },
              { title: 'At', cell: ({ at }) => <Time at={at} /> },
              { title: 'Why', isWide: true, class: 'why', cell: ({ cause }) => CAUSES[cause] },
            ]}
            rows={upcoming(tenant, {}).data}
            keyOf={({ kind, reference, region }) => `next-${kind}-${region}-${reference}`}
            empty="Nothing is due. A new collection or payout link has its next transition here."
          />
        </Card>
        <Card id="latest" title="Latest">
          <EventTable
            page={page}
            caption="The latest transitions"
            events={events.after(Math.max(0, last - MOST_EVENTS)).reverse()}
            empty="Nothing has happened yet. Every change of a state is listed here, with its cause."
          />
        </Card>
      </div>
      <Card id="counts" title="Records">
        <ul class="counts">
          {kinds.map(kind => {
            const { path, title, name, lifecycle } = kind
            return (
              <li key={path}>
                <a href={href(page, path)}>
                  <strong>{tenant[name].size()}</strong> {title}
                </a>
                {lifecycle && (
                  <ul>
                    {countByStatus(tenant, kind).map(([status, count]) => (
                      <li key={status}>
                        <a href={href(page, path, { status })}>
                          <Status of={status} /> {count}
                        </a>
                      </li>
                    ))}
                  </ul>
                )}
              </li>
            )
          })}
        </ul>
      </Card>
    </>
  )
}

/** The causes of a transition, in words. */
export const CAUSES: Readonly<Record<string, string>> = {
  api: 'the app',
  time: 'time',
  control: 'control plane',
  outcome: 'chosen outcome',
}

export function RecordLink({ page, kind, reference, region }: RecordLinkProps) {
  const { path } = kindOfEvent(kind)
  return (
    <a href={href(page, `${path}/${encodeURIComponent(reference)}`, path === '/bills' && region ? { region } : {})}>
      {reference}
    </a>
  )
}
interface RecordLinkProps {
  readonly page: Page
  readonly kind: string
  readonly reference: string
  readonly region?: string
}

function EventTable({
  page,
  caption,
  events,
  empty,
}: {
  page: Page
  caption: string
  events: readonly Event[]
  empty: string
}) {
  const columns: readonly Column<Event>[] = [
    { title: 'Record', cell: ({ kind, reference }) => <RecordLink page={page} kind={kind} reference={reference} /> },
    {
      title: 'Became',
      cell: ({ to, reasonCode }) => (
        <>
          <Status of={to} /> {reasonCode}
        </>
      ),
    },
    { title: 'At', cell: ({ at }) => <Time at={at} /> },
    { title: 'Why', isWide: true, class: 'why', cell: ({ cause }) => CAUSES[cause] },
  ]
  return (
    <Table
      caption={caption}
      columns={columns}
      rows={events}
      keyOf={({ seq }) => `${caption.replaceAll(' ', '-')}-${seq}`}
      empty={empty}
    />
  )
}

const STEPS = [
  ['+1 hour', 'PT1H'],
  ['+1 day', 'P1D'],
  ['+1 week', 'P7D'],
] as const

/** The clock of the client, with its controls. */
function Clock({ page }: { page: Page }) {
  const { clock } = page.tenant
  const now = formatInstant(clock.now())
  const isRunning = clock.mode() === 'running'
  const advance = (body: object) => control(page, 'POST', '/clock/advance', body)
  const set = (body: object) => control(page, 'PATCH', '/clock', body)
  const calls = [
    advance({ toNextEvent: true }),
    ...STEPS.map(([, by]) => advance({ by })),
    advance({ to: now }),
    set({ mode: 'frozen' }),
    set({ mode: 'running', rate: 3600 }),
  ]
  return (
    <section class="card clock" aria-label="Time">
      <p class="now">
        <time dateTime={now} data-rate={isRunning ? clock.rate() : undefined}>
          {formatMoment(clock.now())}
        </time>
      </p>
      <p class="pace">{isRunning ? `Runs ${paceOf(clock.rate())}.` : 'Frozen: it moves only by the buttons.'}</p>
      <div class="actions">
        <CallForm page={page} id="next-event" call={advance({ toNextEvent: true })} label="Next event" />
        {STEPS.map(([label, by]) => (
          <CallForm key={by} page={page} id={`advance-${by}`} call={advance({ by })} label={label} isPlain />
        ))}
        <CallForm page={page} id="advance-to" call={{ ...advance({}), body: undefined }} label="Go" isPlain>
          <Field
            form="advance-to"
            name="to"
            label="To (UTC)"
            hint=""
            schema={Moment}
            value={now}
            refused={refusalOf(page, 'advance-to')}
          />
        </CallForm>
        {isRunning && <CallForm page={page} id="freeze" call={set({ mode: 'frozen' })} label="Freeze" isPlain />}
        <CallForm page={page} id="run" call={set({ mode: 'running' })} label="Run" isPlain>
          <label for="run-rate">at</label>
          <select id="run-rate" name="body.rate">
            {[1, 60, 3600, 86_400].map(rate => (
              <option key={rate} value={rate} selected={rate === clock.rate()}>
                {paceOf(rate)}
              </option>
            ))}
          </select>
        </CallForm>
      </div>
      <SameCall page={page} id="clock" calls={calls} />
    </section>
  )
}
