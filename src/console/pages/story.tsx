/** The story on a stage, one step at a time: the sentence and a button, the lifecycle that moves, the request and its answer. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { read, useLoaded, withClient } from '../api.js'
import { kindNamed, RecordLink, RequestLink, referenceOf, useApp, useOwn } from '../app.js'
import { hasMembers } from '../format.js'
import { commandOf, Form, useSend } from '../forms.js'
import { LifecycleDrawing } from '../lifecycle.js'
import { Card, Copyable, Json, Status } from '../parts.js'
import type { Explained, Found, Kind, LoggedRequest, SentCall, StoryStep } from '../types.js'

const NAME = 'story'
/** An account number that the page of a recipient accepts. */
const IBAN = 'DE89370400440532013000'
const MOST_REQUESTS = 200

interface ToldStep extends StoryStep {
  readonly found: Explained | undefined
  readonly isDone: boolean
}

/** Finds the newest record of a step, or undefined if there is none. */
async function find({ path, reference }: Kind, { record: members }: StoryStep, client: string, signal: AbortSignal) {
  const search = new URLSearchParams({ search: String(members[reference] ?? Object.values(members)[0]) })
  const { data } = await read<{ data: Found[] }>(withClient(`/_sandbox/${path}?${search}`, client), signal)
  const found = data.find(({ record }) => hasMembers(record, members))
  if (found === undefined) return undefined
  const target = `/_sandbox/${path}/${encodeURIComponent(String(found.record[reference]))}`
  return read<Explained>(withClient(target, client), signal)
}

/** Reads the steps of the story. The dates of their requests follow the clock. */
const readStory = async (client: string, signal?: AbortSignal): Promise<readonly StoryStep[]> =>
  (await read<{ story?: StoryStep[] }>(withClient(`/_sandbox/scenarios/${NAME}`, client), signal)).story ?? []

/** Returns the story with the place that the records tell, so that a reader can leave and continue it. */
function useStory(): readonly ToldStep[] | undefined {
  const { client, kinds } = useApp()
  const { data } = useLoaded(`story ${client}`, async signal =>
    Promise.all(
      (await readStory(client, signal)).map(async step => {
        const kind = kindNamed(kinds, step.kind)
        const found = kind && (await find(kind, step, client, signal))
        return { ...step, found, isDone: found !== undefined && !step.until?.includes(String(found.record.status)) }
      }),
    ),
  )
  return data
}

/** The story is offered to clients with the records of the demo, and to those that have begun it. */
export function Story() {
  const { client, own } = useApp()
  const steps = useStory()
  if (steps === undefined || steps.length === 0) return null
  if (own.fixture !== 'demo' && steps[0]?.isDone !== true) return null
  return <Stage key={client} steps={steps} />
}

interface Sent {
  readonly call: SentCall
  readonly answer: unknown
}

function Stage({ steps }: { steps: readonly ToldStep[] }) {
  const { client, kinds } = useApp()
  const { act } = useSend()
  // The records can tell that a step is done before its answer is here. Until then, the stage shows this step.
  const [played, setPlayed] = useState<number>()
  const present = played ?? steps.findIndex(({ isDone }) => !isDone)
  const isTold = present < 0
  // A story that was told before is a line; one that ends now stays, with what was called.
  const [wasTold] = useState(isTold)
  const [sent, setSent] = useState<Sent>()
  const [isAsking, setAsking] = useState(false)
  const stage = useRef<HTMLDivElement>(null)
  const hadFocus = useRef(false)
  useEffect(() => {
    if (hadFocus.current && present >= 0) stage.current?.querySelector<HTMLElement>('.primary, a.button')?.focus()
  }, [present])
  const at = isTold ? steps.length - 1 : present
  const step = steps[at] as ToldStep
  const before = steps[at - 1]
  // Before a step has made its record, the one before it is still the subject.
  const shown = step.found ? step : before
  const shownKind = kindNamed(kinds, (shown ?? step).kind)
  const play = async () => {
    // A second press would play the step twice, or be lost.
    if (played !== undefined) return
    hadFocus.current = true
    setPlayed(at)
    // The clock may have moved since the steps were read.
    const { request } = (await readStory(client).catch(() => steps))[at] ?? step
    const call = request ?? { method: 'POST', path: `/_sandbox/scenarios/${NAME}`, body: { step: at + 1 } }
    await act(call, answer => setSent({ call, answer })).finally(() => setPlayed(undefined))
  }
  const restart = {
    id: 'restart',
    label: 'Reset the client',
    call: { method: 'POST', path: '/_sandbox/reset' },
    look: 'danger' as const,
  }
  const over = isAsking ? (
    <div class="actions">
      <span>All records of this client are removed, and the records of its fixture are restored.</span>
      <Form {...restart} />
      <button type="button" class="plain" onClick={() => setAsking(false)}>
        Keep it as it is
      </button>
    </div>
  ) : (
    <button type="button" class="small plain" onClick={() => setAsking(true)}>
      Start over
    </button>
  )
  if (wasTold && isTold) {
    return (
      <section class="card told" aria-label="The story">
        <p>The story is told: {steps.length} steps, from the mandate to the claimed payout.</p>
        {over}
      </section>
    )
  }
  const money = isTold ? step.found?.forecast.at(-1) : undefined
  return (
    <Card
      id="story"
      title="The story, step by step"
      aside={steps[0]?.isDone ? over : <span>Five minutes, no terminal</span>}
    >
      <ol class="steps">
        {steps.map(({ title, isDone }, place) => (
          <li key={title} class={isDone ? 'done' : ''} aria-current={place === present ? 'step' : undefined}>
            <span class="wide">{title}</span>
            <span class="visually-hidden">{isDone ? ' done' : ''}</span>
          </li>
        ))}
      </ol>
      <div class="stage" ref={stage}>
        <div>
          {before?.isDone && !isTold && (
            <p class="hint">
              <Told step={before} />
            </p>
          )}
          <h3>
            {at + 1}. {step.title}
          </h3>
          {isTold ? (
            <p>
              <Told step={step} />
            </p>
          ) : (
            <p>{step.before}</p>
          )}
          {!isTold && !step.opens && (
            <button type="button" class="primary" aria-disabled={played !== undefined} onClick={play}>
              {step.button}
            </button>
          )}
          {step.opens && step.found && <Claim step={step} opens={step.opens} />}
          {money && (
            <Form
              id="arrive"
              label="Let the money arrive"
              call={{ method: 'POST', path: '/_sandbox/clock/advance', body: { to: money.at } }}
              look="primary"
            />
          )}
        </div>
        <div>
          {step.opens && step.found && (
            <Page url={String(step.found.record[step.opens])} status={step.found.record.status} />
          )}
          {shown?.found && shownKind && (
            <p>
              <RecordLink kind={shown.kind} reference={referenceOf(shownKind, shown.found.record)} />{' '}
              <Status of={String(shown.found.record.status)} />
            </p>
          )}
          {shownKind?.lifecycle && (
            <LifecycleDrawing id="story-drawing" lifecycle={shownKind.lifecycle} explained={shown?.found} />
          )}
        </div>
      </div>
      {isTold ? <End steps={steps} kinds={kinds} /> : sent && <Exchange {...sent} />}
      {!isTold && !sent && <p class="hint">The request and its answer appear here.</p>}
    </Card>
  )
}

/** The sentence of a finished step, which follows the state of its record. */
const Told = ({ step: { after, ends = {}, found } }: { step: ToldStep }) => {
  const status = String(found?.record.status)
  return <>{Object.hasOwn(ends, status) ? ends[status] : after}</>
}

/** The way to claim: the page, and an account number to paste. */
const Claim = ({ step, opens }: { step: ToldStep; opens: string }) => (
  <>
    <p class="hint">An IBAN to paste:</p>
    <Copyable as="the IBAN" text={IBAN} />
    <p>
      <a class="button plain" href={String(step.found?.record[opens])} target="_blank" rel="noreferrer">
        {step.button}
      </a>
    </p>
  </>
)

/** The page of the recipient, beside the story. A server with another public address shows it in a tab only. */
function Page({ url, status }: { url: string; status: unknown }) {
  const isOwn = URL.canParse(url) && new URL(url).origin === location.origin
  return isOwn && ['ACTIVE', 'CLAIMED', 'PROCESSING', 'PAID'].includes(String(status)) ? (
    <iframe src={url} title="The page of the recipient" />
  ) : null
}

/** The request of a step, and its answer. */
function Exchange({ call, answer }: Sent) {
  const app = useApp()
  return (
    <div class="columns exchange">
      <div>
        <h3>Request</h3>
        <Copyable as="as curl" text={commandOf(call, app)} />
      </div>
      <div>
        <h3>Answer</h3>
        <Json label="the answer" value={answer} />
      </div>
    </div>
  )
}

/** The end of the story: the requests that were sent. */
function End({ steps, kinds }: { steps: readonly ToldStep[]; kinds: readonly Kind[] }) {
  const { href } = useApp()
  const { data } = useOwn<{ data: LoggedRequest[] }>(`/_sandbox/requests?limit=${MOST_REQUESTS}`)
  const references = new Set(
    steps.flatMap(({ kind: name, found }) => {
      const kind = kindNamed(kinds, name)
      return kind && found ? [referenceOf(kind, found.record)] : []
    }),
  )
  const made = (data?.data ?? []).filter(({ records }) => records.some(({ reference }) => references.has(reference)))
  return (
    <div class="told">
      <h3>That is the whole story. It called:</h3>
      <ul class="links">
        {made.map(request => (
          <li key={request.seq}>
            <RequestLink request={request} />
          </li>
        ))}
        <li>
          <code>POST /_sandbox/clock/advance</code>, twice: time passed.
        </li>
      </ul>
      <p class="actions">
        <a class="button plain" href={href('/failures')}>
          Break something
        </a>
        <a class="button plain" href={href('../docs')}>
          Read the interface
        </a>
      </p>
    </div>
  )
}
