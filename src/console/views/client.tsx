import { NO_FILE } from '../../http/form.js'
import { Card, Facts } from '../../http/pages/parts.js'
import { summaryOf } from '../../sandbox/clients/routes.js'
import type { Scenario } from '../../sandbox/scenarios/files.js'
import { exampleOf } from '../../tenants/examples.js'
import { bodyOf, control } from '../calls.js'
import { kinds } from '../kinds.js'
import type { Call, Page } from '../page.js'
import { addressOf, href } from '../page.js'
import { Actions, SameCall } from './forms.js'
import { Pager, TableCard, Time } from './parts.js'

const MOST_CLIENTS = 50

const sum = (counts: object) => Object.values(counts).reduce((all, count) => all + count, 0)

/** A client: its fixture, settings, state, scenarios, copies and end, and all clients. */
export async function clientView(page: Page) {
  const { tenant, context, query } = page
  const { clientId, fixture, settings } = tenant
  const { registry } = context
  // The records of its own fixture are there already.
  const fixtures = [...registry.fixtures]
    .filter(([name, records]) => name !== fixture && Object.keys(records).length > 0)
    .map(([name]) => name)
  const update = {
    id: 'update-settings',
    label: 'Save',
    call: control('PUT /settings', settings),
    fields: 'all' as const,
  }
  const add = {
    ...{ id: 'seed', label: 'Add them', call: control('POST /seed', { fixture: fixtures[0] }) },
    ...{ fields: ['fixture'], choices: { fixture: fixtures } },
  }
  const copy = exampleOf(tenant, page.realNow, bodyOf(context, control('POST /fork')))
  const fork = { id: 'fork-client', label: 'Fork', call: control('POST /fork', copy), fields: 'all' as const }
  const expire = { id: 'expire', label: 'Expire all tokens', call: control('POST /tokens/expire') }
  const files = [{ label: 'Download the state', call: control('GET /state') }]
  const all = [...page.clients].sort()
  const start = Math.max(0, query.cursor === undefined ? 0 : all.findIndex(id => id > (query.cursor as string)))
  const shown = all.slice(start, start + MOST_CLIENTS)
  const rows = await context.storage.all(summaryOf, shown)
  return (
    <>
      <div class="columns">
        <Card id="facts" title="This client">
          <Facts
            facts={[
              ['Client id', clientId],
              ['Fixture', fixture],
              ['Seed of ids and chance', registry.seed],
              ['Base address', `${page.publicUrl}/api/v1`],
              ...kinds.map(({ title, name }) => [title, tenant[name].size()] as const),
            ]}
          />
        </Card>
        <Card id="settings" title="Settings">
          <Actions page={page} id="settings" actions={[update]} />
        </Card>
      </div>
      <Card id="scenarios" title="Scenarios">
        <p class="hint">
          A scenario brings the client into a state, all or nothing. It creates the records that you do not name.
        </p>
        {page.scenarios.map(scenario => (
          <ScenarioFold key={scenario.name} page={page} scenario={scenario} />
        ))}
      </Card>
      <div class="columns">
        <Card id="state" title="Files">
          <ul class="links">
            <li>
              <a href={href(page, '/state.json')} download>
                Download the state
              </a>
              : all records, the clock and the settings as one document.
            </li>
            <li>
              <a href={href(page, '/client/load')}>Load a state …</a>
            </li>
          </ul>
          <SameCall page={page} id="files" actions={files} />
        </Card>
        {fixtures.length > 0 && (
          <Card id="add" title="Records of a fixture">
            <Actions page={page} id="seed" actions={[add]} />
          </Card>
        )}
        <Card id="fork" title="Fork">
          <p class="hint">An exact copy under another id, with the same secret if you give none.</p>
          <Actions page={page} id="fork" actions={[fork]} />
        </Card>
        <Card id="end" title="Expire, reset or remove">
          <Actions page={page} id="expire" actions={[expire]} />
          <p class="actions">
            {['reset', 'remove'].map(name => (
              <a key={name} class="button danger" href={href(page, `/client/${name}`)}>
                {CONFIRMATIONS[name]?.label} …
              </a>
            ))}
          </p>
        </Card>
      </div>
      <TableCard
        id="clients"
        title="All clients"
        columns={[
          [
            'Client',
            ({ clientId: client }) => (
              <a href={`${addressOf(page, 'console')}?${new URLSearchParams({ client })}`}>{client}</a>
            ),
          ],
          ['Fixture', ({ fixture }) => fixture, 'wide'],
          ['Records', ({ counts }) => sum(counts), 'number'],
          ['Time', ({ now }) => <Time at={now} />],
        ]}
        rows={rows}
        keyOf={({ clientId }) => `client-${clientId}`}
        empty="There is no client."
      >
        <Pager
          links={{
            First: start > 0 && href(page, '/client'),
            More: all.length > start + MOST_CLIENTS && href(page, '/client', { cursor: shown.at(-1) }),
          }}
        />
      </TableCard>
    </>
  )
}

/** The form of a scenario, with its parameters as fields. */
function ScenarioFold({ page, scenario: { name, summary, parameters } }: { page: Page; scenario: Scenario }) {
  const body = Object.fromEntries(Object.entries(parameters).map(([member, parameter]) => [member, parameter.default]))
  const id = `scenario-${name}`
  const call = control('POST /scenarios/:name', body, { name })
  const action = { id, label: `Run ${name}`, call, fields: 'all' as const }
  return (
    <details id={`${id}-fold`} class="fold" open={page.refused?.fields.form === id}>
      <summary>
        <b>{name}</b> {summary}
      </summary>
      <Actions page={page} id={id} actions={[action]} />
    </details>
  )
}

const RESET = {
  title: 'Reset the client?',
  lost: 'All its records and events go, and those of its fixture come. Its clock, settings, faults, armed outcomes, requests and coverage begin again. All its tokens become invalid.',
  label: 'Reset',
  call: () => control('POST /reset'),
}

/** Destructive actions: their losses, their call, and the page for those that decline, by default that of the client. */
export const CONFIRMATIONS: Readonly<
  Record<string, { title: string; lost: string; label: string; back?: string; call(clientId: string): Call }>
> = {
  reset: RESET,
  restart: { ...RESET, title: 'Start the story over?', label: 'Start over', back: '' },
  remove: {
    title: 'Remove the client?',
    lost: 'All of it goes: records, events, clock, settings, requests. Its tokens become invalid, and its id is free. The demo client and listed clients are reset instead.',
    label: 'Remove',
    call: clientId => control('DELETE /clients/:clientId', undefined, { clientId }),
  },
  load: {
    title: 'Load a state',
    lost: 'All its records, events, faults, armed outcomes, deprecations, clock and settings go, and those of the file come. The requests stay.',
    label: 'Load',
    call: () => control('PUT /state', NO_FILE),
  },
}

/** Asks once before a destructive action. */
export function Confirm({ page, name }: { page: Page; name: string }) {
  const { lost, label, call, back = '/client' } = CONFIRMATIONS[name] as (typeof CONFIRMATIONS)[string]
  const { tenant } = page
  const action = { id: name, label, call: call(tenant.clientId), look: 'danger' as const }
  return (
    <Card id="confirm" title={`${tenant.clientId} has ${sum(tenant.counts())} records`}>
      <p>{lost}</p>
      <Actions page={page} id={name} actions={[action]} />
      <p>
        <a href={href(page, back)}>Keep it as it is</a>
      </p>
    </Card>
  )
}
