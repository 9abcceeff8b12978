import { writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import { command } from './command.js'
import type { Json } from './docs/contract.js'
import type { Client } from './helper.js'

/** Returns the body of a transition of a record: that of the first form that fits it. */
export function bodyFor(record: Json, forms: Json[]): object {
  const fits = ({ when }: Json) => Object.entries(when).every(([name, value]) => record[name] === value)
  const { body, from, half } = forms.find(fits)
  const given = Object.entries<string>(from).filter(([, member]) => record[member] !== undefined)
  const members = given.map(([name, member]) => [name, record[member]])
  const halves = Object.entries<string>(half).map(([name, member]) => [name, (record[member] / 2).toFixed(2)])
  return { ...body, ...Object.fromEntries([...members, ...halves]) }
}

/**
 * Makes each transition of a kind from each state by its call, and by its command if the server listens. Asserts that it leads
 * where the lifecycle says.
 * @param client has a record from which each transition is legal
 */
export async function makeAll(t: Test, { app, clientId, control, patch }: Client, name: string): Promise<void> {
  const { data: kinds } = (await control('GET', '/kinds')).body
  const { path, reference, regions, lifecycle } = kinds.find((kind: Json) => kind.name === name)
  const { paths } = (await control('GET', '/openapi.json')).body
  const settings = { SANDBOX_URL: app.server.listening ? app.listeningOrigin : '', SANDBOX_CLIENT: clientId }
  const { body: before } = await control('GET', '/state')
  for (const { from, transition: verb, to } of lifecycle?.transitions ?? []) {
    const { data } = (await control('GET', `/${path}?status=${from}`)).body
    const explain = async ({ region, record }: Json) => {
      const query = regions === 'apart' ? `?region=${region}` : ''
      return { region, ...(await control('GET', `/${path}/${record[reference]}${query}`)).body }
    }
    const found = (await Promise.all(data.map(explain))).find(({ legal = [] }) =>
      legal.some((one: Json) => one.transition === verb),
    )
    const what = `${verb} a record of ${name} that is ${from}`
    if (found === undefined) {
      t.fail(`no record allows to ${what}`)
      continue
    }
    const { record } = found
    const { method, path: url, forms } = lifecycle.operations.find((one: Json) => one.transition === verb)
    const address = url.replace(`{${reference}}`, record[reference])
    const body = bodyFor(record, forms)
    const stateOf = async () => (await explain(found)).record?.status
    if (method === 'PATCH') await patch(address, body, { region: found.region })
    else await control('POST', address.replace('/_sandbox', ''), body)
    t.equal(await stateOf(), to, what)
    await control('PUT', '/state', before)

    const operation = paths[url]?.post
    if (operation === undefined || !app.server.listening) continue
    const file = `${t.testdir()}/body.json`
    writeFileSync(file, JSON.stringify(body))
    const input = Object.keys(body).length === 0 ? [] : ['--input', file]
    const result = await command([...operation['x-command'].split(' '), record[reference], ...input], settings)
    t.same([result.stderr, await stateOf()], ['', to], `the command: ${what}`)
    await control('PUT', '/state', before)
  }
}
