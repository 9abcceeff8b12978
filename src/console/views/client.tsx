import { ForkRequest, SettingsUpdate } from '../../control/schemas.js'
import { formatInstant } from '../../core/time/time.js'
import { kinds } from '../kinds.js'
import type { Page } from '../page.js'
import { addressOf, href } from '../page.js'
import { CallForm, control, SameCall } from './forms.js'
import { Card, Facts, Table, Time } from './parts.js'

/** The most clients of a page. */
const MOST_CLIENTS = 50

/** A client: its fixture, settings, state, copies and end, and all clients. */
export async function clientView(page: Page) {
  const { tenant, context, query } = page
  const { clientId, fixture, settings } = tenant
  const { registry } = context
  const fork = control(page, 'POST', '/fork', { clientId: `${clientId}-copy` })
  const seed = control(page, 'POST', '/seed')
  const expire = control(page, 'POST', '/tokens/expire')
  const all = [...page.clients].sort()
  const start =
    query.cursor === undefined
      ? 0
      : Math.max(
          0,
          all.findIndex(id => id > (query.cursor as string)),
        )
  const shown = all.slice(start, start + MOST_CLIENTS)
  const rows = await Promise.all(shown.map(id => summaryOf(page, id)))
  return (
    <>
      <div class="columns">
        <Card id="facts" title="This client">
          <Facts
            facts={[
              ['Client id', clientId],
              ['Fixture', fixture],
              ['Seed of ids and chance', registry.seed],
              ['Base address', `${registry.publicUrl()}/api/v1`],
              ...kinds.map(({ title, name }) => [title, tenant[name].size()] as const),
            ]}
          />
        </Card>
        <Card id="settings" title="Settings">
          <CallForm
            page={page}
            id="update-settings"
            call={control(page, 'PUT', '/settings', settings)}
            label="Save"
            schema={SettingsUpdate}
            hasCurl
          />
        </Card>
      </div>
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
            <li>
              <a href={href(page, '/recording.json')} download>
                Download the recording
              </a>
              : the requests that changed the client, for <code>payments-sandbox replay</code>.
            </li>
          </ul>
          <SameCall
            page={page}
            id="files"
            calls={[control(page, 'GET', '/state'), control(page, 'GET', '/recording')]}
          />
        </Card>
        <Card id="add" title="Records of a fixture">
          <CallForm page={page} id="seed" call={seed} label="Add them" isPlain>
            <label for="seed-fixture">Fixture</label>
            <select id="seed-fixture" name="body.fixture">
              {[...registry.fixtures.keys()].map(name => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </CallForm>
          <SameCall page={page} id="seed" calls={[{ ...seed, body: { fixture: 'demo' } }]} />
        </Card>
      </div>
      <div class="columns">
        <Card id="fork" title="Fork">
          <p class="hint">An exact copy under another id, with the same secret if you give none.</p>
          <CallForm page={page} id="fork-client" call={fork} label="Fork" schema={ForkRequest} next="/client" hasCurl />
        </Card>
        <Card id="end" title="Tokens and end">
          <CallForm page={page} id="expire" call={expire} label="Expire all tokens" isPlain />
          <p>
            <a class="button danger" href={href(page, '/client/reset')}>
              Reset …
            </a>{' '}
            <a class="button danger" href={href(page, '/client/remove')}>
              Remove …
            </a>
          </p>
          <SameCall page={page} id="expire" calls={[expire]} />
        </Card>
      </div>
      <Card id="clients" title="All clients">
        <Table
          caption="All clients"
          columns={[
            {
              title: 'Client',
              cell: ({ id }) => (
                <a href={`${addressOf(page, 'console')}?${new URLSearchParams({ client: id })}`}>{id}</a>
              ),
            },
            { title: 'Fixture', isWide: true, cell: ({ fixture }) => fixture },
            { title: 'Records', class: 'number', cell: ({ records }) => records },
            { title: 'Time', cell: ({ now }) => <Time at={now} /> },
          ]}
          rows={rows}
          keyOf={({ id }) => `client-${id}`}
          empty="There is no client."
        />
        <nav class="pager" aria-label="Pages">
          {start > 0 && <a href={href(page, '/client')}>First</a>}
          {all.length > start + MOST_CLIENTS && (
            <a href={href(page, '/client', { cursor: shown.at(-1) as string })}>More</a>
          )}
        </nav>
      </Card>
    </>
  )
}

/** Describes another client in a turn of its own. */
const summaryOf = ({ context: { turns, registry } }: Page, id: string) =>
  turns.take(id, {
    isRead: () => true,
    run(realNow) {
      const { fixture, clock, counts } = registry.tenant(id, realNow)
      const records = Object.values(counts()).reduce((sum, count) => sum + count, 0)
      return { id, fixture, records, now: formatInstant(clock.now()) }
    },
  })

/** What a destructive action takes away, and its button. */
interface Confirmation {
  readonly title: string
  readonly lost: string
  readonly label: string
  readonly call: (page: Page) => ReturnType<typeof control>
}

export const CONFIRMATIONS: Readonly<Record<'reset' | 'remove', Confirmation>> = {
  reset: {
    title: 'Reset the client?',
    lost: 'All its records and events go, and those of its fixture come. Its clock, settings, faults, armed outcomes, requests, coverage and recording begin again. All its tokens become invalid.',
    label: 'Reset',
    call: page => control(page, 'POST', '/reset'),
  },
  remove: {
    title: 'Remove the client?',
    lost: 'All of it goes: records, events, clock, settings, requests. Its tokens become invalid, and its id is free. The demo client and listed clients are reset instead.',
    label: 'Remove',
    call: ({ tenant }) => ({ method: 'DELETE', target: `/_sandbox/clients/${encodeURIComponent(tenant.clientId)}` }),
  },
}

/** Asks once before a destructive action. */
export function Confirm({ page, name }: { page: Page; name: keyof typeof CONFIRMATIONS }) {
  const { lost, label, call } = CONFIRMATIONS[name]
  const { tenant } = page
  const records = Object.values(tenant.counts()).reduce((sum, count) => sum + count, 0)
  return (
    <Card id="confirm" title={`${tenant.clientId} has ${records} records`}>
      <p>{lost}</p>
      <div class="actions">
        <CallForm page={page} id={name} call={call(page)} label={label} next="" isDanger hasCurl />
        <a href={href(page, '/client')}>Keep it as it is</a>
      </div>
    </Card>
  )
}

/** The form that loads a state document. */
export function Load({ page }: { page: Page }) {
  const { tenant, refused } = page
  return (
    <Card id="load" title={`It replaces the state of ${tenant.clientId}`}>
      <p>
        All its records, events, faults, armed outcomes, deprecations, clock and settings go, and those of the document
        come. The requests stay.
      </p>
      <CallForm page={page} id="load-state" call={control(page, 'PUT', '/state')} label="Load" next="" isFile isDanger>
        <div class="field">
          <label for="file">State document</label>
          <input id="file" name="file" type="file" accept="application/json,.json" />
        </div>
      </CallForm>
      {refused && (
        <p>
          <a href={href(page, '/client')}>Keep it as it is</a>
        </p>
      )}
    </Card>
  )
}
