/** The sandbox of a client: its state, settings, scenarios and end, and all clients. */
import { useState } from 'preact/hooks'
import { addressOf, ROOT } from '../address.js'
import { useAnswer } from '../api.js'
import { useApp, useOwn } from '../app.js'
import { Actions, Form, SameCall, useSend } from '../forms.js'
import { Card, Choice, Facts, Pager, Refused, Table, Time } from '../parts.js'
import type { AnyRecord, Client, Scenario, SentCall } from '../types.js'
import { ScenarioForm } from './failures.js'

const MOST_CLIENTS = 50

const sum = (counts: Client['counts']) => Object.values(counts).reduce((all, count) => all + count, 0)

export function Sandbox() {
  const { client, own, kinds, href, go } = useApp()
  const { data: settings } = useOwn<AnyRecord>('/_sandbox/settings')
  const { data: about } = useAnswer<{ version: string; seed: string }>('/_sandbox', true)
  const { fixture, counts = {} } = own
  const expire: SentCall = { method: 'POST', path: '/_sandbox/tokens/expire' }
  const reset: SentCall = { method: 'POST', path: '/_sandbox/reset' }
  const remove: SentCall = { method: 'DELETE', path: `/_sandbox/clients/${encodeURIComponent(client)}` }
  return (
    <>
      <div class="columns">
        <Card id="facts" title="This client" aside={<a href={href('/coverage')}>Coverage</a>}>
          <Facts
            facts={[
              ['Client id', client],
              ['Fixture', fixture],
              ['Seed of ids and chance', about?.seed],
              ['Base address', `${ROOT}api/v1`],
              ...kinds.map(({ title, name }) => [title, counts[name]] as const),
              ['Version', about?.version],
            ]}
          />
        </Card>
        <Card id="settings" title="Settings">
          {settings && (
            <Form
              id="update-settings"
              label="Save"
              call={{ method: 'PUT', path: '/_sandbox/settings', body: without(settings) }}
              fields={['mandateActivation', 'allowedOrigins', 'senderName']}
            />
          )}
        </Card>
      </div>
      <Scenarios />
      <div class="columns">
        <State />
        <Card id="end" title="Expire, reset or remove">
          <Actions actions={[{ id: 'expire', label: 'Expire all tokens', call: expire }]} />
          <Confirmed
            id="reset"
            label="Reset"
            call={reset}
            lost={`The client has ${sum(counts)} records. All its records and events are removed, and the records of its fixture are restored. Its clock, settings, faults, armed outcomes, requests and coverage begin again. All its tokens become invalid.`}
          />
          <Confirmed
            id="remove"
            label="Remove"
            call={remove}
            lost="The client is removed with its records, events, clock, settings and requests. Its tokens become invalid, and its id is free. The demo client and listed clients are reset instead."
            onDone={() => go(addressOf('', ''))}
          />
        </Card>
      </div>
      <Clients />
    </>
  )
}

/** The settings that the form changes. Those of deprecations and of token requests are for commands. */
const without = ({ deprecationStyle, tokenAuthentication, ...rest }: AnyRecord) => rest

/** The scenarios as one list and one form. */
function Scenarios() {
  const { data } = useAnswer<{ data: Scenario[] }>('/_sandbox/scenarios', true)
  const [name, setName] = useState('collection-returned')
  const scenario = data?.data.find(one => one.name === name) ?? data?.data[0]
  if (data === undefined || scenario === undefined) return null
  return (
    <Card id="scenarios" title="Scenarios">
      <p class="hint">
        A scenario brings the client into a state, all or nothing. It creates the records that you do not name.
      </p>
      <Choice
        id="scenario"
        label="Scenario"
        options={data.data.map(({ name, summary }) => [name, `${name}: ${summary}`] as const)}
        value={scenario.name}
        onChange={setName}
        hint={scenario.movesClock && 'It moves the clock.'}
      />
      <ScenarioForm
        key={scenario.name}
        id="run-scenario"
        label={`Run ${scenario.name}`}
        scenario={scenario}
        fields="all"
      />
    </Card>
  )
}

/** The state as a file, out and in. */
function State() {
  const { client, say } = useApp()
  const { act, error } = useSend()
  const [file, setFile] = useState<File>()
  const state = new URL(`_sandbox/state?${new URLSearchParams({ client })}`, ROOT).href
  const load = async (event: SubmitEvent) => {
    event.preventDefault()
    if (file === undefined) return say('Choose the file of a state first.', true)
    await act({ method: 'PUT', path: '/_sandbox/state', body: file })
  }
  return (
    <Card id="state" title="State">
      <p>
        <a href={state} download={`${client}-state.json`}>
          Download the state
        </a>
        : all records, the clock and the settings as one document.
      </p>
      <form class="action" onSubmit={load}>
        <div class="field">
          <label for="file">State document</label>
          <input
            id="file"
            type="file"
            accept="application/json,.json"
            onChange={event => setFile(event.currentTarget.files?.[0])}
          />
        </div>
        <button type="submit" class="danger">
          Load
        </button>
        {error && <Refused error={error} />}
      </form>
      <p class="hint">
        A load replaces all records, events, faults, armed outcomes, deprecations, the clock and the settings. The
        requests stay.
      </p>
      <SameCall calls={[['Download the state', { method: 'GET', path: '/_sandbox/state' }]]} />
    </Card>
  )
}

interface ConfirmedProps {
  readonly id: string
  readonly label: string
  readonly lost: string
  readonly call: SentCall
  readonly onDone?: () => void
}

/** Asks once before a destructive action. */
function Confirmed({ id, label, lost, call, onDone }: ConfirmedProps) {
  return (
    <details class="fold">
      <summary class="button danger">{label} …</summary>
      <p>{lost}</p>
      <Actions actions={[{ id, label: `${label} it`, call, look: 'danger', ...(onDone && { onDone }) }]} />
    </details>
  )
}

/** All clients. */
function Clients() {
  const { clients, address, href } = useApp()
  const start = Math.max(0, Number(address.query.from ?? 0) || 0)
  const all = clients.toSorted((one, other) => (one.clientId < other.clientId ? -1 : 1))
  const shown = all.slice(start, start + MOST_CLIENTS)
  return (
    <Card id="clients" title={all.length > shown.length ? `${shown.length} of ${all.length} clients` : 'All clients'}>
      <Table<Client>
        caption="All clients"
        columns={[
          ['Client', ({ clientId }) => <a href={addressOf('', clientId)}>{clientId}</a>],
          ['Fixture', ({ fixture }) => fixture, 'wide'],
          ['Records', ({ counts }) => sum(counts), 'number'],
          ['Time', ({ now }) => <Time at={now} />],
        ]}
        rows={shown}
        keyOf={({ clientId }) => clientId}
        empty="There is no client."
      />
      <Pager
        links={{
          First: start > 0 && href('/sandbox'),
          More: all.length > start + MOST_CLIENTS && href('/sandbox', { from: `${start + MOST_CLIENTS}` }),
        }}
      />
    </Card>
  )
}

export const NotFound = () => (
  <Card id="missing" title="There is no page at this address">
    <p>The navigation has all pages.</p>
  </Card>
)
