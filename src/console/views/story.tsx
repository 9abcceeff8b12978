import { ownMember } from '../../core/own-member.js'
import type { Explained } from '../../core/records/stateful-repository.js'
import { FORM } from '../../http/form.js'
import { MASK } from '../../http/masking.js'
import { Card, Facts } from '../../http/pages/parts.js'
import { toCurl } from '../../sandbox/request-log/snippets.js'
import type { LoggedExchange } from '../../sandbox/request-log/state.js'
import type { Scenario } from '../../sandbox/scenarios/files.js'
import { onlyCallOf } from '../../sandbox/scenarios/run.js'
import { control } from '../calls.js'
import type { AnyRecord, Row } from '../kinds.js'
import { explain, findRecord, kindOf, referenceOf } from '../kinds.js'
import type { Call, Page } from '../page.js'
import { addressOf, href } from '../page.js'
import type { Action } from './forms.js'
import { Actions, SameCall } from './forms.js'
import { LifecycleDrawing } from './lifecycle.js'
import { Copyable, Json, Status } from './parts.js'
import { linkTo } from './records.js'

type StoryStep = NonNullable<Scenario['story']>[number]

/** Finds the newest record of a step, as it is explained; undefined: there is none. */
function find(page: Page, { kind: name, record: members }: StoryStep): Explained<AnyRecord> | undefined {
  const { tenant } = page
  const kind = kindOf(name)
  const reference = members[kind.reference]
  const isIt = ({ record }: Row) => Object.entries(members).every(([member, value]) => record[member] === value)
  // Only a record without a known reference is worth a look at all of them.
  const found =
    reference === undefined
      ? (tenant[name].entries() as readonly Row[]).findLast(isIt)
      : findRecord(tenant, kind, reference)
  return found && explain(page, kind, referenceOf(kind, found.record))
}

/** Returns the call of a step: the only one that the scenario makes with its number, or the run of the scenario. */
function callOf({ context, tenant }: Page, scenario: Scenario, step: number): Call {
  const { call, region, ...input } = onlyCallOf(scenario, { step }, tenant) ?? {}
  const { method, url, schema } = context.documented.find(({ schema }) => schema.operationId === call) ?? {}
  if (schema !== undefined) return { route: `${method} ${url}`, region: schema.headers ? region : undefined, ...input }
  return control('POST /scenarios/:name', { step }, { name: scenario.name })
}

/**
 * The guided story, offered to clients with the demo records and to those that have begun it. Each step is a call.
 * The place follows from the records, so that the story can be left and taken up.
 */
export function storyOf(page: Page) {
  const scenario = page.scenarios.find(({ story }) => story !== undefined)
  const steps = (scenario?.story ?? []).map((step, at) => {
    const found = find(page, step)
    const isDone = found !== undefined && step.until?.includes(String(found.record.status)) !== true
    return { ...step, found, isDone, call: callOf(page, scenario as Scenario, at + 1) }
  })
  const hasBegun = steps[0]?.isDone === true
  if (scenario === undefined || (!hasBegun && page.tenant.fixture !== 'demo')) return undefined
  return { name: scenario.name, steps, hasBegun, present: steps.findIndex(({ isDone }) => !isDone) }
}

export type ToldStory = NonNullable<ReturnType<typeof storyOf>>

type ToldStep = ToldStory['steps'][number]

/** Whether two steps have the same record. */
const isSame = (one: ToldStep, other: ToldStep) => one.kind === other.kind && referenceIn(one) === referenceIn(other)

const referenceIn = ({ kind, found }: ToldStep) => found && referenceOf(kindOf(kind), found.record)

/** Returns whether a request has made the record of a step. */
const isOf =
  (step: ToldStep) =>
  ({ path, responseBody }: LoggedExchange) =>
    step.call.route === `POST ${path}` && Object(responseBody)[kindOf(step.kind).reference] === referenceIn(step)

/** The latest answers to creations that are searched for those of the story. */
const MOST_SEARCHED = 100

/** Lists the requests that made records lately, if some may be of the story. */
export async function sentFor({ context, tenant }: Page, story: ToldStory | undefined) {
  if (story?.hasBegun !== true) return []
  const filter = { method: 'POST', path: '/api/*', status: 201, limit: MOST_SEARCHED }
  return (await context.requestLog.list(tenant.clientId, filter)).data
}

interface StoryProps {
  readonly page: Page
  readonly story: ToldStory
  /** The requests of `sentFor`. */
  readonly sent: readonly LoggedExchange[]
}

/** The story, as the records of the client tell it. */
export function Story({ page, story: { steps, hasBegun, present }, sent }: StoryProps) {
  return (
    <Card
      id="story"
      title="The story, step by step"
      aside={hasBegun ? <a href={href(page, '/client/restart')}>Start over</a> : <span>Five minutes, no terminal</span>}
    >
      <ol class="story">
        {steps.map((step, at) => {
          const { title, button, before, after, ends = {}, kind: name, found, isDone, opens, call } = step
          const kind = kindOf(name)
          const isPresent = at === present
          const status = String(found?.record.status)
          const action: Action = { id: `story-${at + 1}`, label: button, call, look: 'primary' }
          const isLast = isDone && !steps.slice(at + 1).some(later => later.isDone && isSame(later, step))
          return (
            <li
              key={title}
              class={isDone ? 'done' : isPresent ? 'present' : 'later'}
              aria-current={isPresent ? 'step' : undefined}
            >
              <div>
                <h3>{title}</h3>
                {(isDone || isPresent) && (
                  <p>
                    {isDone ? (ownMember(ends, status) ?? after) : before}{' '}
                    {found && linkTo(page, kind, { region: '', record: found.record })}{' '}
                    {found && <Status of={status} />}
                  </p>
                )}
                {isPresent && !opens && <Actions page={page} id="story" actions={[action]} />}
                {isPresent && opens && (
                  <a class="button" href={String(found?.record[opens])} target="_blank" rel="noreferrer">
                    {button}
                  </a>
                )}
                {isDone && !opens && <Sent page={page} action={action} exchange={sent.find(isOf(step))} />}
              </div>
              {isLast && found && kind.lifecycle && (
                <LifecycleDrawing id={`drawing-${at + 1}`} lifecycle={kind.lifecycle} status={status} {...found} />
              )}
            </li>
          )
        })}
      </ol>
      {present < 0 && <Doors page={page} />}
    </Card>
  )
}

interface SentProps {
  readonly page: Page
  readonly action: Action
  readonly exchange: LoggedExchange | undefined
}

/** The request and the answer of a step. Of one that the log does not have, the command. */
function Sent({ page, action, exchange }: SentProps) {
  const { id } = action
  if (exchange === undefined) return <SameCall page={page} id={id} actions={[action]} />
  const { seq, method, path, status, body, responseBody } = exchange
  return (
    <details class="same" id={`sent-${id}`}>
      <summary>
        Request and answer: {method} {path}, {status}
      </summary>
      <Json label={`The request: ${action.label}`} value={body} />
      <Json label={`The answer: ${action.label}`} value={responseBody} />
      <a href={href(page, `/requests/${seq}`)}>Request {seq}</a>
    </details>
  )
}

/** The ways on from the end of the story. */
const Doors = ({ page }: { page: Page }) => (
  <>
    <p>
      That is the whole story. Your app and its tests can make the calls of its steps, too. Those of the interface are
      in <a href={href(page, '/requests')}>Requests</a> and in <a href={href(page, '/coverage')}>Coverage</a>.
    </p>
    <div class="columns">
      <div>
        <h3>Connect your app</h3>
        <Connection page={page} />
      </div>
      <div>
        <h3>Break something</h3>
        <p class="hint">Take answers away, delay them, or let the next payment bounce.</p>
        <a class="button plain" href={href(page, '/failures')}>
          Open Failures
        </a>
        <h3>Read the interface</h3>
        <p class="hint">All operations, with a form that sends each of them.</p>
        <a class="button plain" href={addressOf(page, '../docs')}>
          Open the interface
        </a>
      </div>
    </div>
  </>
)

/** What an app needs to act as the client, and the command of its first token. */
export function Connection({ page: { context, tenant, publicUrl: url } }: { page: Page }) {
  const secret = context.registry.knownSecretOf(tenant.clientId)
  const body = {
    ...{ grant_type: 'client_credentials', client_id: tenant.clientId },
    client_secret: secret ?? MASK,
  }
  const token = { method: 'POST', path: '/api/v1/oauth/token', query: {}, headers: { 'content-type': FORM }, body }
  return (
    <>
      <Facts
        facts={[
          ['Base address', `${url}/api/v1`],
          ['Client id', tenant.clientId],
          ['Client secret', secret ?? 'from SANDBOX_CLIENTS or its first token; a fork has the one of its original'],
        ]}
      />
      <Copyable text={toCurl(token, url)} />
    </>
  )
}
