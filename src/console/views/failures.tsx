import type { ComponentChildren } from 'preact'
import { Card } from '../../http/pages/parts.js'
import { EFFECT_KINDS, EFFECTS } from '../../sandbox/faults/schemas.js'
import type { EffectKind } from '../../sandbox/faults/state.js'
import { isSpent } from '../../sandbox/outcomes/state.js'
import { control } from '../calls.js'
import type { Page } from '../page.js'
import { href } from '../page.js'
import type { Action } from './forms.js'
import { Form, SameCall } from './forms.js'
import type { Column } from './parts.js'
import { Status, Table, Time } from './parts.js'

/** The members of the effect of each kind, and an example of them. */
const EXAMPLES: { readonly [kind in EffectKind]: object } = {
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

/** The failures of a client: faults, armed outcomes and deprecations. */
export function Failures({ page }: { page: Page }) {
  const { tenant, realNow, query, context } = page
  const chosen = EFFECT_KINDS.find(one => one === query.kind) ?? 'error'
  const breaking = page.scenarios.filter(({ title }) => title !== undefined)
  const presets = breaking.map(({ name, title }) => ({
    id: `preset-${name}`,
    label: title,
    call: control('POST /scenarios/:name', {}, { name }),
  }))
  const fault = { match: { path: '/api/v1/*' }, times: 1, effect: { kind: chosen, ...EXAMPLES[chosen] } }
  // A list of operations has no field: it is sent as the example has it.
  const members = Object.keys(EXAMPLES[chosen]).flatMap(name => (name === 'patch' ? [] : `effect.${name}`))
  const fields = ['match', 'times', 'skip', 'probability', 'ttl', ...members]
  const isFolded = true
  const outcome = { outcome: 'RETURNED-AM04', times: 1 }
  const deprecations = tenant.deprecations.list()
  const place = `data.${deprecations.length}`
  const operations = context.operations.map(({ operation }) => operation)
  const rest = operations.filter(one => deprecations.every(({ operation }) => operation !== one))
  const choices = {
    [`${place}.operation`]: operations,
    [`${place}.goneAfterSunset`]: ['true', 'false'],
  }
  const ofDeprecation = ['operation', 'sunset', 'goneAfterSunset'].map(name => `${place}.${name}`)
  return (
    <>
      <Card id="presets" title="Break something">
        <ul class="presets">
          {presets.map((action, at) => (
            <li key={action.id}>
              <Form page={page} action={action} />
              <p class="hint">{breaking[at]?.summary}</p>
            </li>
          ))}
        </ul>
        <SameCall page={page} id="presets" actions={presets} />
      </Card>
      <Armed
        page={page}
        id="faults"
        title="Faults"
        columns={[
          ['Fault', ({ id }) => id, 'reference'],
          ['State', fault => <Status of={tenant.faults.stateOf(fault, realNow)} />],
          ['Effect', ({ effect }) => valuesOf(effect)],
          ['Of', ({ match }) => valuesOf(match) || 'any request', 'wide'],
          ['Matched', ({ seen }) => seen, 'number'],
          ['Fired', ({ fired, times }) => `${fired} of ${times ?? 'any'}`, 'number'],
        ]}
        rows={[...tenant.faults.list()].reverse()}
        action={{ id: 'arm', label: `Arm: ${chosen}`, call: control('POST /faults', fault), fields, look: 'primary' }}
        empty="No fault is armed. A fault lets requests of the app fail; it is listed here with how often it matched and fired."
      >
        <h3 id="kinds">Arm another</h3>
        <ul class="tabs">
          {EFFECT_KINDS.map(kind => (
            <li key={kind}>
              <a
                href={`${href(page, '/failures', { kind })}#kinds`}
                aria-current={kind === chosen ? 'true' : undefined}
              >
                {kind}
              </a>
            </li>
          ))}
        </ul>
        <p class="hint">{`${chosen}: ${EFFECTS[chosen]}.`}</p>
      </Armed>
      <Armed
        page={page}
        id="outcomes"
        title="Armed outcomes"
        columns={[
          ['Id', ({ id }) => id, 'reference'],
          ['State', outcome => <Status of={isSpent(outcome) ? 'spent' : 'armed'} />],
          ['Outcome', ({ outcome }) => outcome],
          ['Of', ({ match }) => valuesOf(match) || 'any record', 'wide'],
          ['Fired', ({ fired, times }) => `${fired} of ${times ?? 'any'}`, 'number'],
        ]}
        rows={[...tenant.outcomes.list()].reverse()}
        action={{
          ...{ id: 'arm-outcome', label: 'Arm an outcome', call: control('POST /outcomes', outcome) },
          ...{ fields: 'all', isFolded },
        }}
        empty="No outcome is armed. An armed outcome decides how the next matching collection or payout link ends."
      />
      <Armed
        page={page}
        id="deprecations"
        title="Deprecations"
        columns={[
          ['Operation', ({ operation }) => <code>{operation}</code>],
          ['Since', ({ deprecatedSince }) => <Time at={deprecatedSince} />, 'wide'],
          ['Sunset', ({ sunset }) => sunset && <Time at={sunset} />],
          ['Then gone', ({ goneAfterSunset }) => (goneAfterSunset ? 'yes' : 'no')],
        ]}
        action={{
          ...{ id: 'deprecate', label: 'Deprecate an operation', fields: ofDeprecation, choices, isFolded },
          call: control('PUT /deprecations', {
            data: [...deprecations, ...rest.slice(0, 1).map(operation => ({ operation }))],
          }),
        }}
        rows={deprecations.map(deprecation => ({ ...deprecation, id: undefined }))}
        empty="Nothing is deprecated. A deprecated operation sends the headers Deprecation and Sunset."
      />
    </>
  )
}

/** The values of an object in one text, without nested ones. */
const valuesOf = (object: object) =>
  Object.entries(object)
    .filter(([, value]) => typeof value !== 'object')
    .map(([name, value]) => (name === 'retryAfter' ? `(Retry-After ${value})` : value))
    .join(' ')

const MOST_ROWS = 50

interface ArmedProps<R> {
  readonly page: Page
  /** The name of the calls, too. */
  readonly id: 'faults' | 'outcomes' | 'deprecations'
  readonly title: string
  readonly columns: readonly Column<R>[]
  readonly rows: readonly R[]
  readonly empty: string
  /** The form of another one. */
  readonly action: Action
  readonly children?: ComponentChildren
}

/** A list of failures that can be removed, and the form of another. One without an id goes only with all. */
function Armed<R extends { id?: string | undefined }>(props: ArmedProps<R>) {
  const { page, id, title, columns, rows, empty, action, children } = props
  const shown = rows.slice(0, MOST_ROWS)
  const removals = new Map(
    shown.flatMap((row): [R, Action][] => {
      if (row.id === undefined) return []
      const label = ['Remove', <span key="id" class="visually-hidden">{` ${row.id}`}</span>]
      return [[row, { id: `remove-${row.id}`, label, call: control(`DELETE /${id}/:id`, undefined, { id: row.id }) }]]
    }),
  )
  const remove: Column<R> = ['Remove', row => <Form page={page} action={removals.get(row) as Action} />]
  const clear = { id: `clear-${id}`, label: `Clear the ${id}`, call: control(`DELETE /${id}`) }
  return (
    <Card id={id} title={title} aside={rows.length > 0 && <Form page={page} action={clear} />}>
      <Table
        caption={title}
        columns={removals.size > 0 ? [...columns, remove] : columns}
        rows={shown}
        keyOf={row => row.id ?? `${id}-${shown.indexOf(row)}`}
        empty={empty}
      />
      {children}
      <div class="actions">
        <Form page={page} action={action} />
      </div>
      <SameCall page={page} id={id} actions={rows.length > 0 ? [action, clear, ...removals.values()] : [action]} />
    </Card>
  )
}
