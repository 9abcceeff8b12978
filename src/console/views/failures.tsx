import { Type } from '@sinclair/typebox'
import { COLLECTION_OUTCOMES } from '../../areas/direct-debit/outcomes.js'
import { Deprecation } from '../../features/deprecations/schemas.js'
import { FaultRequest } from '../../features/faults/schemas.js'
import type { EffectKind, Fault } from '../../features/faults/state.js'
import { EFFECT_KINDS } from '../../features/faults/state.js'
import { OutcomeRequest } from '../../features/outcomes/schemas.js'
import type { ArmedOutcome } from '../../features/outcomes/state.js'
import { isSpent } from '../../features/outcomes/state.js'
import type { Page } from '../page.js'
import { href } from '../page.js'
import { CallForm, control, SameCall } from './forms.js'
import { Card, Status, Table, Time } from './parts.js'

/** Faults in plain words, ready to arm. */
const PRESETS: readonly (readonly [name: string, effect: string, body: object])[] = [
  [
    'The answer is lost',
    'The next collection is created, but the app gets no answer.',
    { match: { method: 'POST', path: '/api/v1/direct-debit' }, effect: { kind: 'drop', when: 'after' } },
  ],
  [
    'Too many requests',
    'The next two requests get 429 with Retry-After.',
    { times: 2, effect: { kind: 'error', status: 429, retryAfter: 3 } },
  ],
  [
    'Slow bank',
    'For an hour, collections take about two seconds, and sometimes ten.',
    {
      match: { path: '/api/v1/direct-debit*' },
      times: null,
      ttl: 'PT1H',
      effect: { kind: 'delay', distribution: 'lognormal', median: 2000, sigma: 0.7, max: 10_000 },
    },
  ],
  ['Expired token', 'The next request with a token gets 401 EXPIRED_TOKEN.', { effect: { kind: 'stale-token' } }],
  ['Out of order', 'The next three requests get 503.', { times: 3, effect: { kind: 'error', status: 503 } }],
]

/** The members of the effect of each kind, and an example of them. */
const EFFECTS: { readonly [kind in EffectKind]: object } = {
  error: { status: 503, code: '', message: '', retryAfter: '' },
  delay: { ms: 2000 },
  drop: { when: 'after' },
  reset: { when: 'after' },
  truncate: {},
  garbage: {},
  dribble: { ms: 200 },
  'stale-token': {},
}

/** The failures of a client: faults, armed outcomes and deprecations. */
export function Failures({ page }: { page: Page }) {
  return (
    <>
      <Card id="presets" title="Break something">
        <div class="presets">
          {PRESETS.map(([name, effect, body], at) => (
            <div key={name}>
              <CallForm
                page={page}
                id={`preset-${at}`}
                call={control(page, 'POST', '/faults', body)}
                label={name}
                isPlain
              />
              <p class="hint">{effect}</p>
            </div>
          ))}
        </div>
        <SameCall
          page={page}
          id="presets"
          calls={PRESETS.map(([, , body]) => control(page, 'POST', '/faults', body))}
        />
      </Card>
      <Faults page={page} />
      <Outcomes page={page} />
      <Deprecations page={page} />
    </>
  )
}

function Faults({ page }: { page: Page }) {
  const { tenant, realNow, query } = page
  const kind = EFFECT_KINDS.find(one => one === query.kind) ?? 'error'
  const faults = [...tenant.faults.list()].reverse()
  const effect = EFFECTS[kind]
  const names = [
    'match',
    'match.method',
    'match.path',
    'match.region',
    'times',
    'skip',
    'probability',
    'ttl',
    'effect',
    ...Object.keys(effect).map(name => `effect.${name}`),
  ]
  const call = control(page, 'POST', '/faults', {
    match: { path: '/api/v1/*' },
    times: 1,
    effect: { kind, ...given(effect) },
  })
  return (
    <Card
      id="faults"
      title="Faults"
      aside={
        faults.length > 0 && (
          <CallForm page={page} id="clear-faults" call={control(page, 'DELETE', '/faults')} label="Clear" isPlain />
        )
      }
    >
      <Table
        caption="Faults"
        columns={[
          { title: 'Fault', cell: ({ id }) => id },
          { title: 'State', cell: fault => <Status of={tenant.faults.stateOf(fault, realNow)} /> },
          {
            title: 'Effect',
            cell: ({ effect }) =>
              Object.values(effect)
                .filter(value => typeof value !== 'object')
                .join(' '),
          },
          {
            title: 'Of',
            isWide: true,
            cell: ({ match: { method = 'any method', path = 'any path', region } }) =>
              [method, path, region].filter(Boolean).join(' '),
          },
          { title: 'Matched', class: 'number', cell: ({ seen }) => seen },
          { title: 'Fired', class: 'number', cell: ({ fired, times }) => `${fired} of ${times ?? 'any'}` },
          {
            title: 'Remove',
            cell: ({ id }: Fault) => (
              <CallForm
                page={page}
                id={`remove-${id}`}
                call={control(page, 'DELETE', `/faults/${encodeURIComponent(id)}`)}
                label={
                  <>
                    Remove<span class="hidden"> {id}</span>
                  </>
                }
                isPlain
              />
            ),
          },
        ]}
        rows={faults.slice(0, 50)}
        keyOf={({ id }) => id}
        empty="No fault is armed. A fault lets requests of the app fail; it is listed here with how often it matched and fired."
      />
      <h3>Arm another</h3>
      <ul class="tabs">
        {EFFECT_KINDS.map(one => (
          <li key={one}>
            <a href={`${href(page, '/failures', { kind: one })}#arm`} aria-current={one === kind ? 'true' : undefined}>
              {one}
            </a>
          </li>
        ))}
      </ul>
      <CallForm
        page={page}
        id="arm"
        call={call}
        label={`Arm: ${kind}`}
        schema={FaultRequest}
        names={names}
        fixed={{ effect: { kind } }}
        hasCurl
      />
    </Card>
  )
}

/** The members that have a value. */
const given = (example: object) => Object.fromEntries(Object.entries(example).filter(([, value]) => value !== ''))

function Outcomes({ page }: { page: Page }) {
  const outcomes = [...page.tenant.outcomes.list()].reverse()
  const call = control(page, 'POST', '/outcomes', {
    outcome: COLLECTION_OUTCOMES.find(name => name === 'RETURNED-AM04'),
    times: 1,
  })
  return (
    <Card
      id="outcomes"
      title="Armed outcomes"
      aside={
        outcomes.length > 0 && (
          <CallForm page={page} id="clear-outcomes" call={control(page, 'DELETE', '/outcomes')} label="Clear" isPlain />
        )
      }
    >
      <Table
        caption="Armed outcomes"
        columns={[
          { title: 'Id', cell: ({ id }) => id },
          { title: 'State', cell: outcome => <Status of={isSpent(outcome) ? 'spent' : 'armed'} /> },
          { title: 'Outcome', cell: ({ outcome }) => outcome },
          {
            title: 'Of',
            isWide: true,
            cell: ({ match }) =>
              Object.entries(match)
                .map(([name, value]) => `${name} ${value}`)
                .join(', ') || 'any record',
          },
          { title: 'Fired', class: 'number', cell: ({ fired, times }) => `${fired} of ${times ?? 'any'}` },
          {
            title: 'Remove',
            cell: ({ id }: ArmedOutcome) => (
              <CallForm
                page={page}
                id={`remove-${id}`}
                call={control(page, 'DELETE', `/outcomes/${encodeURIComponent(id)}`)}
                label={
                  <>
                    Remove<span class="hidden"> {id}</span>
                  </>
                }
                isPlain
              />
            ),
          },
        ]}
        rows={outcomes.slice(0, 50)}
        keyOf={({ id }) => id}
        empty="No outcome is armed. An armed outcome decides how the next matching collection or payout link ends."
      />
      <details id="arm-outcome-form" open={page.refused?.fields.form === 'arm-outcome'}>
        <summary class="button plain">Arm an outcome …</summary>
        <CallForm page={page} id="arm-outcome" call={call} label="Arm the outcome" schema={OutcomeRequest} hasCurl />
      </details>
    </Card>
  )
}

function Deprecations({ page }: { page: Page }) {
  const { tenant, context } = page
  const deprecations = tenant.deprecations.list()
  const schema = Type.Object({
    data: Type.Object({
      [deprecations.length]: Type.Object({
        operation: { ...Deprecation.properties.operation, enum: context.operations.map(({ operation }) => operation) },
        sunset: Deprecation.properties.sunset,
        goneAfterSunset: Deprecation.properties.goneAfterSunset,
      }),
    }),
  })
  const call = control(page, 'PUT', '/deprecations', { data: deprecations })
  return (
    <Card
      id="deprecations"
      title="Deprecations"
      aside={
        deprecations.length > 0 && (
          <CallForm
            page={page}
            id="clear-deprecations"
            call={control(page, 'DELETE', '/deprecations')}
            label="Clear"
            isPlain
          />
        )
      }
    >
      <Table
        caption="Deprecated operations"
        columns={[
          { title: 'Operation', cell: ({ operation }) => <code>{operation}</code> },
          { title: 'Since', isWide: true, cell: ({ deprecatedSince }) => <Time at={deprecatedSince} /> },
          { title: 'Sunset', cell: ({ sunset }) => sunset && <Time at={sunset} /> },
          { title: 'Then gone', cell: ({ goneAfterSunset }) => (goneAfterSunset ? 'yes' : 'no') },
        ]}
        rows={deprecations}
        keyOf={({ operation }) => operation.replace(/\W+/g, '-')}
        empty="Nothing is deprecated. A deprecated operation sends the headers Deprecation and Sunset."
      />
      <details id="deprecate-form" open={page.refused?.fields.form === 'deprecate'}>
        <summary class="button plain">Deprecate an operation …</summary>
        <CallForm page={page} id="deprecate" call={call} label="Deprecate" schema={schema} fixed={call.body ?? {}} />
      </details>
      <SameCall
        page={page}
        id="deprecations"
        calls={[{ ...call, body: { data: [{ operation: 'GET /api/v1/mandates', sunset: '2030-06-30T00:00:00Z' }] } }]}
      />
    </Card>
  )
}
