import { writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import type { Kind } from '../src/console/kinds.js'
import { legalTransitions } from '../src/core/records/lifecycle.js'
import { command } from './command.js'
import { fieldsOf, open, submit } from './console/pages.js'
import type { Client } from './helper.js'

/**
 * Makes all transitions of a kind that the console offers for records in each state, each by its form, and by its command
 * if the server listens. Asserts that they lead where the lifecycle says, and that no transition has no form.
 * @param client has a record in each state
 */
export async function pressAll(t: Test, { app, clientId, control }: Client, kind: Kind) {
  const { name, path: page, lifecycle, calls, reference: member } = kind
  if (lifecycle === undefined) return
  const path = calls.slice(1)
  const { paths } = (await control('GET', '/openapi.json')).body
  const { listening } = app.server
  const settings = { SANDBOX_URL: listening ? app.listeningOrigin : '', SANDBOX_CLIENT: clientId }
  const { body: before } = await control('GET', '/state')
  for (const status of lifecycle.states) {
    const { data } = (await control('GET', `/${path}?status=${status}`)).body
    for (const { verb, to } of legalTransitions(lifecycle.table, status)) {
      const what = `${verb} a record of ${name} that is ${status}`
      const isOffered = async (reference: string) =>
        (await control('GET', `/${path}/${reference}`)).body.legal?.some((move: { verb: string }) => move.verb === verb)
      let reference: string | undefined
      for (const { record } of data)
        if (reference === undefined && (await isOffered(record[member]))) reference = record[member]
      if (reference === undefined) {
        t.fail(`no record allows to ${what}`)
        continue
      }
      const stateOf = async () => (await control('GET', `/${path}/${reference}`)).body.record?.status
      const options = { client: clientId }
      const { fields } = fieldsOf((await open(app, `${page}/${reference}`, options)).payload, `move-${verb}`)
      const { statusCode } = await submit(app, `${page}/${reference}`, `move-${verb}`, {}, options)
      t.same([statusCode, await stateOf()], [303, to], `the form: ${what}`)
      await control('PUT', '/state', before)

      const operation = paths[`/_sandbox/${path}/{${member}}/${verb}`]?.post
      if (operation === undefined || !listening) continue
      const file = `${t.testdir()}/body.json`
      writeFileSync(file, fields.json ?? '{}')
      const input = fields.json === '{}' ? [] : ['--input', file]
      const result = await command([...operation['x-command'].split(' '), reference, ...input], settings)
      t.same([result.stderr, await stateOf()], ['', to], `the command: ${what}`)
      await control('PUT', '/state', before)
    }
  }
}
