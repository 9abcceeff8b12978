import type { Scenario } from '../../features/scenarios/files.js'
import { control } from '../calls.js'
import type { AnyRecord, Row } from '../kinds.js'
import { explain, findRecord, kindOf, referenceOf } from '../kinds.js'
import type { Page } from '../page.js'
import { href } from '../page.js'
import type { Action } from './forms.js'
import { Actions } from './forms.js'
import { Card, Status } from './parts.js'
import { linkTo } from './records.js'

type StoryStep = NonNullable<Scenario['story']>[number]

/** Finds the newest record of a step, as it is explained; undefined: there is none. */
function find(page: Page, { kind: name, record: members }: StoryStep): AnyRecord | undefined {
  const { tenant } = page
  const kind = kindOf(name)
  const reference = members[kind.reference]
  const isIt = ({ record }: Row) => Object.entries(members).every(([member, value]) => record[member] === value)
  // Only a record without a known reference is worth a look at all of them.
  const found =
    reference === undefined
      ? (tenant[name].entries() as readonly Row[]).findLast(isIt)
      : findRecord(tenant, kind, reference)
  return found && explain(page, kind, referenceOf(kind, found.record)).record
}

/**
 * The guided story, offered to clients with the demo records and to those that have begun it. Each step runs the
 * scenario with its number. The place follows from the records, so that the story can be left and taken up.
 */
export function Story({ page }: { page: Page }) {
  const scenario = page.scenarios.find(({ story }) => story !== undefined)
  const steps = (scenario?.story ?? []).map(step => {
    const record = find(page, step)
    return { ...step, record, isDone: record !== undefined && step.until?.includes(String(record.status)) !== true }
  })
  const hasBegun = steps[0]?.isDone === true
  if (scenario === undefined || (!hasBegun && page.tenant.fixture !== 'demo')) return null
  const next = (step: number, label: string): Action => {
    const call = control('POST /scenarios/:name', { step }, { name: scenario.name })
    return { id: `story-${step}`, label, call, look: 'primary' }
  }
  const present = steps.findIndex(({ isDone }) => !isDone)
  return (
    <Card
      id="story"
      title="The story, step by step"
      aside={hasBegun ? <a href={href(page, '/client/reset')}>Start over</a> : <span>Five minutes, no terminal</span>}
    >
      <ol class="story">
        {steps.map(({ title, button, before, after, kind, record, isDone, opens }, at) => (
          <li
            key={title}
            class={isDone ? 'done' : at === present ? 'present' : 'later'}
            aria-current={at === present ? 'step' : undefined}
          >
            <h3>{title}</h3>
            {(isDone || at === present) && (
              <p>
                {isDone ? after : before} {record && linkTo(page, kindOf(kind), { region: '', record })}{' '}
                {record && <Status of={String(record.status)} />}
              </p>
            )}
            {at === present &&
              (opens ? (
                <a class="button" href={String(record?.[opens])} target="_blank" rel="noreferrer">
                  {button}
                </a>
              ) : (
                <Actions page={page} id="story" actions={[next(at + 1, button)]} />
              ))}
          </li>
        ))}
      </ol>
      {present < 0 && <p>That is the whole story. Every step was a call that your app can make, too.</p>}
    </Card>
  )
}
