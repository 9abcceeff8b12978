/** Failures: presets, armed faults and armed outcomes. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { toTitle } from '../../core/words.js'
import { useAnswer } from '../api.js'
import { useOwn } from '../app.js'
import type { Action } from '../forms.js'
import { Form, SameCall, useOperation } from '../forms.js'
import type { Column } from '../parts.js'
import { Card, Status, Table } from '../parts.js'
import type { Schema } from '../schema.js'
import type { AnyRecord, Fields, Scenario, SentCall } from '../types.js'
import { useEndings, useOutcomes } from './records.js'

/** The members of the effect of each kind that have fields, and an example of them. */
const EXAMPLES: Readonly<Record<string, AnyRecord>> = {
  error: { status: 503, code: undefined, message: undefined, retryAfter: undefined },
  delay: { ms: 2000 },
  drop: { when: 'after' },
  reset: { when: 'after' },
  truncate: {},
  garbage: {},
  dribble: { ms: 200 },
  'stale-token': {},
  patch: { patch: [{ op: 'replace', path: '/status', value: 'ON_HOLD' }] },
}

interface Armed {
  readonly id: string
  readonly state: string
  readonly match?: Fields
  readonly times: number | null
  readonly fired: number
}
interface Fault extends Armed {
  readonly effect: AnyRecord
  readonly seen: number
}
interface ArmedOutcome extends Armed {
  readonly outcome: string
}

/** Lists the members of an effect that have fields: the members of a patch are lists of objects. */
const membersOf = (kind: string) =>
  Object.entries(EXAMPLES[kind] ?? {}).flatMap(([name, value]) => (typeof value === 'object' ? [] : [name]))

interface ScenarioFormProps extends Pick<Action, 'id' | 'label' | 'isLine'> {
  readonly scenario: Scenario
  readonly fields: readonly string[] | 'all'
}

/** The form of a scenario. */
export function ScenarioForm({ scenario: { name, parameters }, ...rest }: ScenarioFormProps) {
  const given = parameters.filter(one => one.default !== null)
  const schema = {
    type: 'object',
    required: given.map(({ name }) => name),
    properties: Object.fromEntries(
      parameters.map(({ name, description, default: value }) => [
        name,
        { type: typeof value === 'number' ? 'integer' : 'string', description },
      ]),
    ),
  }
  const body = Object.fromEntries(given.map(({ name, default: value }) => [name, value]))
  return <Form {...rest} call={{ method: 'POST', path: `/_sandbox/scenarios/${name}`, body }} schema={schema} />
}

export function Failures() {
  const known = useOutcomes()
  const endingsOf = useEndings()
  const { data: scenarios } = useAnswer<{ data: Scenario[] }>('/_sandbox/scenarios', true)
  const { data: faults } = useOwn<{ data: Fault[] }>('/_sandbox/faults')
  const { data: outcomes } = useOwn<{ armed: ArmedOutcome[] }>('/_sandbox/outcomes')
  const [effect, setEffect] = useState('error')
  const arm: SentCall = { method: 'POST', path: '/_sandbox/faults' }
  const effects = effectsOf(useOperation(arm)?.body)
  const body = { match: { path: '/api/v1/*' }, times: 1, effect: { kind: effect, ...EXAMPLES[effect] } }
  const all = new Map([...(known?.data ?? []), ...(known?.payoutLinks ?? [])].map(one => [one.outcome, one]))
  return (
    <>
      <Card id="presets" title="Break something">
        <ul class="presets">
          {(scenarios?.data ?? [])
            .filter(({ title }) => title !== undefined)
            .map(scenario => (
              <li key={scenario.name}>
                <div>
                  <h3>{scenario.title}</h3>
                  <p class="hint">{scenario.summary}</p>
                </div>
                <ScenarioForm
                  id={`preset-${scenario.name}`}
                  label="Arm"
                  scenario={scenario}
                  fields={['path', 'times']}
                  isLine
                />
              </li>
            ))}
        </ul>
      </Card>
      <ArmedCard<Fault>
        id="faults"
        title="Faults"
        columns={[
          ['Fault', ({ id }) => id, 'reference'],
          ['State', ({ state }) => <Status of={state} />],
          ['Effect', ({ effect }) => textOf(effect)],
          ['Of', ({ match = {} }) => textOf(match) || 'any request', 'wide'],
          ['Matched', ({ seen }) => seen, 'number'],
          ['Fired', ({ fired, times }) => `${fired} of ${times ?? 'any'}`, 'number'],
        ]}
        rows={faults?.data ?? []}
        empty="No fault is armed. A fault makes requests of your app fail. This list shows how often each one matched and fired."
      >
        <details class="fold">
          <summary class="button plain">Arm another fault …</summary>
          <ul class="tabs">
            {effects.map(([kind]) => (
              <li key={kind}>
                <button type="button" aria-pressed={kind === effect} onClick={() => setEffect(kind)}>
                  {kind}
                </button>
              </li>
            ))}
          </ul>
          <p class="hint">{toTitle(`${effect}: ${new Map(effects).get(effect) ?? ''}.`)}</p>
          <Form
            id="arm"
            label={`Arm: ${effect}`}
            call={{ ...arm, body }}
            fields={['match.path', 'times', ...membersOf(effect).map(name => `effect.${name}`)]}
            more={['match.method', 'match.region', 'skip', 'probability', 'ttl']}
            labels={{ 'match.path': 'Path' }}
            look="primary"
          />
        </details>
      </ArmedCard>
      <ArmedCard<ArmedOutcome>
        id="outcomes"
        title="Armed outcomes"
        columns={[
          ['Id', ({ id }) => id, 'reference'],
          ['State', ({ state }) => <Status of={state} />],
          ['Outcome', ({ outcome }) => outcome],
          ['Of', ({ match = {} }) => textOf(match) || 'any record', 'wide'],
          ['Fired', ({ fired, times }) => `${fired} of ${times ?? 'any'}`, 'number'],
        ]}
        rows={outcomes?.armed ?? []}
        empty="No outcome is armed. An armed outcome decides how the next matching collection or payout link ends."
      >
        <details class="fold">
          <summary class="button plain">Arm an outcome …</summary>
          <Form
            id="arm-outcome"
            label="Arm the outcome"
            call={{ method: 'POST', path: '/_sandbox/outcomes', body: { outcome: 'RETURNED-AM04', times: 1 } }}
            fields={['outcome']}
            more={['times', 'match']}
            choices={{ outcome: endingsOf([...all.values()]) }}
            labels={{ outcome: 'How it ends' }}
          />
        </details>
      </ArmedCard>
    </>
  )
}

/** Lists the kinds of effects with their sentences, as the schema describes them. */
function effectsOf(body: Schema | undefined): readonly (readonly [kind: string, text: string])[] {
  const { enum: kinds = Object.keys(EXAMPLES), description = '' } = body?.properties?.effect?.properties?.kind ?? {}
  return kinds.map(kind => [kind, new RegExp(`(?:^|\\s)${kind}: ([^.]*)\\.`).exec(description)?.[1] ?? kind])
}

/** The values of an object in one text, without nested ones. */
const textOf = (object: object) =>
  Object.entries(object)
    .filter(([, value]) => typeof value !== 'object')
    .map(([name, value]) => (name === 'retryAfter' ? `(Retry-After ${value})` : value))
    .join(' ')

const MOST_ROWS = 50

interface ArmedProps<R> {
  /** The name of the calls, too. */
  readonly id: 'faults' | 'outcomes'
  readonly title: string
  readonly columns: readonly Column<R>[]
  readonly rows: readonly R[]
  readonly empty: string
  readonly children: ComponentChildren
}

/** A list of failures that can be removed, and the form of another. */
function ArmedCard<R extends Armed>({ id, title, columns, rows, empty, children }: ArmedProps<R>) {
  const shown = rows.slice(-MOST_ROWS).toReversed()
  const clear = { method: 'DELETE', path: `/_sandbox/${id}` }
  const remove: Column<R> = [
    'Remove',
    row => (
      <Form
        id={`remove-${row.id}`}
        label={[
          'Remove',
          <span key="id" class="visually-hidden">
            {` ${row.id}`}
          </span>,
        ]}
        call={{ method: 'DELETE', path: `/_sandbox/${id}/${row.id}` }}
      />
    ),
  ]
  return (
    <Card
      id={id}
      title={title}
      aside={rows.length > 0 && <Form id={`clear-${id}`} label={`Clear the ${id}`} call={clear} />}
    >
      <Table
        caption={title}
        columns={rows.length > 0 ? [...columns, remove] : columns}
        rows={shown}
        keyOf={({ id }) => id}
        empty={empty}
      />
      {children}
      {rows.length > 0 && <SameCall calls={[[`Clear the ${id}`, clear]]} />}
    </Card>
  )
}
