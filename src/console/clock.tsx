/** The clock of the client, on every page: what comes next, ways forward, a forecast of each jump, and the way back. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { live, readBytes, readLast, withClient } from './api.js'
import { RecordLink, useApp, useOwn } from './app.js'
import { formatDate, formatMoment, paceOf } from './format.js'
import { SameCall, useSend } from './forms.js'
import { sentenceOf, transitionsOf } from './notices.js'
import { Choice, Status } from './parts.js'
import type { Advanced, Clock, Coming, SentCall } from './types.js'

const YEAR_MS = 366 * 86_400_000
const MINUTE_MS = 60_000
const DAY_MS = 1440 * MINUTE_MS
/** The most records and events of a client whose state this page keeps for an undo. */
const MOST_KEPT = 20_000
const PATH = '/_sandbox/clock/advance'
const RATES = [1, 60, 3600, 86_400]

/** The state before a jump, and the number of the event after it. */
interface Kept {
  readonly client: string
  readonly state: Blob
  readonly last: number
  readonly now: number
}

type Jump = Readonly<Record<string, string | boolean>>

const advance = (body: Jump): SentCall => ({ method: 'POST', path: PATH, body })

export function ClockBar() {
  const { client, clock, own, kinds, say } = useApp()
  const { data: upcoming } = useOwn<{ data: Coming[] }>('/_sandbox/upcoming?limit=1')
  const { act } = useSend()
  const [asked, setAsked] = useState<{ body: Jump; answer: Advanced; isLong: boolean }>()
  const [kept, setKept] = useState<Kept>()
  const [to, setTo] = useState<string>()
  const now = useNow(clock)
  const confirm = useRef<HTMLButtonElement>(null)
  useEffect(() => setAsked(undefined), [client])
  useEffect(() => confirm.current?.focus(), [asked])
  if (clock === undefined) return null
  const next = upcoming?.data[0]
  const isRunning = clock.mode === 'running'
  const ahead = Math.max(DAY_MS, isRunning ? clock.rate * MINUTE_MS : 0)
  const target = to ?? new Date(now + ahead).toISOString().slice(0, 19)
  const canUndo = kept !== undefined && kept.client === client && kept.last === live.last

  const ask = (body: Jump) =>
    act(advance({ ...body, dryRun: true }), answered => {
      const answer = answered as Advanced
      setAsked({ body, answer, isLong: Date.parse(answer.now) - now > YEAR_MS })
    })
  async function jump(body: Jump) {
    // Without the state, the jump has no way back.
    const state = await stateToKeep().catch(() => undefined)
    await act(advance(body), async answer => {
      setAsked(undefined)
      setTo(undefined)
      live.last = await readLast(client)
      setKept(state === undefined ? undefined : { client, state, last: live.last, now })
      say(sentenceOf(kinds, PATH, answer))
    })
  }
  /** Reads the state, if the client is small enough. */
  async function stateToKeep(): Promise<Blob | undefined> {
    const records = Object.values(own.counts ?? {}).reduce((all, count) => all + count, 0)
    if (records + (await readLast(client)) > MOST_KEPT) return undefined
    return readBytes(withClient('/_sandbox/state', client))
  }
  const undo = ({ state, now }: Kept) =>
    act({ method: 'PUT', path: '/_sandbox/state', body: state }, () => {
      setKept(undefined)
      say(`The jump is undone. The clock shows ${formatMoment(now)} again.`)
    })
  const change = (body: object) => act({ method: 'PATCH', path: '/_sandbox/clock', body })
  const button = (label: string, body: Jump) => (
    <button type="button" class="small plain" onClick={() => ask(body)}>
      {label}
    </button>
  )
  return (
    <section class="clock" aria-label="Time">
      <div class="bar">
        <p class="now">
          <time dateTime={new Date(now).toISOString()}>{formatMoment(now)}</time>
          <span class="pace">{isRunning ? ` runs ${paceOf(clock.rate)}` : ' frozen'}</span>
        </p>
        <p class="coming">
          {next === undefined ? (
            'Nothing is due.'
          ) : (
            <>
              Next: <RecordLink kind={next.kind} reference={next.reference} region={next.region} />{' '}
              <Status of={next.to} /> {formatDate(next.at)}
            </>
          )}
        </p>
        <div class="ways">
          {next !== undefined && button('Next event', { toNextEvent: true })}
          {button('+1 day', { by: 'P1D' })}
          {button('+1 week', { by: 'P7D' })}
          <details class="pop">
            <summary class="button small plain">More</summary>
            <div class="sheet">
              <form
                class="action"
                onSubmit={event => {
                  event.preventDefault()
                  void ask({ to: /Z$/.test(target) ? target : `${target}${target.length === 16 ? ':00' : ''}Z` })
                }}
              >
                <div class="field">
                  <label for="clock-to">To (UTC)</label>
                  <input
                    id="clock-to"
                    type="datetime-local"
                    step={1}
                    value={target}
                    onInput={event => setTo(event.currentTarget.value)}
                  />
                </div>
                <button type="submit" class="small plain">
                  Go
                </button>
              </form>
              <div class="action">
                <Choice
                  id="clock-rate"
                  label="Pace"
                  options={[...new Set([...RATES, clock.rate])].map(rate => [`${rate}`, paceOf(rate)])}
                  value={`${clock.rate}`}
                  onChange={rate => change({ rate: Number(rate) })}
                />
                <button
                  type="button"
                  class="small plain"
                  onClick={() => change({ mode: isRunning ? 'frozen' : 'running' })}
                >
                  {isRunning ? 'Freeze' : 'Run'}
                </button>
              </div>
              <SameCall
                calls={[
                  ['+1 day', advance({ by: 'P1D' })],
                  ['Next event', advance({ toNextEvent: true })],
                ]}
              />
            </div>
          </details>
          {canUndo && (
            <button type="button" class="small" onClick={() => undo(kept)}>
              Undo
            </button>
          )}
        </div>
      </div>
      {asked && (
        <div class="asked" role="status">
          <p>
            {formatMoment(Date.parse(asked.answer.now))}:{' '}
            {asked.answer.transitions.length === 0 ? 'nothing is due until then.' : `${transitionsOf(asked.answer)}.`}
            {asked.isLong && <strong> That is more than a year.</strong>}
          </p>
          <button ref={confirm} type="button" class="small" onClick={() => jump(asked.body)}>
            {asked.isLong ? 'Advance by more than a year' : 'Advance'}
          </button>
          <button type="button" class="small plain" onClick={() => setAsked(undefined)}>
            Stay
          </button>
        </div>
      )}
    </section>
  )
}

/** Returns the time of a clock. One that runs ticks. */
function useNow(clock: Clock | undefined): number {
  const at = Date.parse(clock?.now ?? '')
  const [since, setSince] = useState({ clock, at: performance.now() })
  const [, tick] = useState(0)
  const isRunning = clock?.mode === 'running'
  useEffect(() => setSince({ clock, at: performance.now() }), [clock])
  useEffect(() => {
    if (!isRunning) return
    const timer = setInterval(() => tick(count => count + 1), 1000)
    return () => clearInterval(timer)
  }, [isRunning])
  if (!isRunning || since.clock !== clock) return at
  return at + (performance.now() - since.at) * (clock?.rate ?? 0)
}
