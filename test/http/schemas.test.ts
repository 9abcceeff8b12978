import type { TSchema } from '@sinclair/typebox'
import { Ajv } from 'ajv'
import t from 'tap'
import type { Area } from '../../src/areas/index.js'
import { areas } from '../../src/areas/index.js'
import { isValid } from '../../src/http/compilers.js'
import { ScenarioFile } from '../../src/sandbox/scenarios/schemas.js'
import { build } from '../helper.js'

t.test('ARCHITECTURE, What holds everywhere: each schema is valid, which no server checks', async t => {
  const app = build(t)
  const schemas: Record<string, unknown> = { ScenarioFile }
  for (const [name, { record, seeds }] of Object.entries<Area>(areas))
    Object.assign(schemas, { [name]: record, [`new ${name}`]: seeds })
  app.addHook('onRoute', ({ method, url, schema = {} }) => {
    const { headers, params, querystring, body, response = {} } = schema
    for (const [part, one] of Object.entries({ headers, params, querystring, body, ...(response as object) })) {
      const { content } = (one as { content?: Record<string, { schema: unknown }> }) ?? {}
      const found = content === undefined ? [one] : Object.values(content).map(({ schema }) => schema)
      for (const [at, value] of found.entries())
        if (value !== undefined) schemas[`${method} ${url} ${part} ${at}`] = value
    }
  })
  await app.ready()
  t.ok(Object.keys(schemas).length > 300)
  const meta = new Ajv({ strict: false })
  const faults: string[] = []
  for (const [place, schema] of Object.entries(schemas)) {
    if (!meta.validateSchema(schema as object)) faults.push(`${place}: ${JSON.stringify(meta.errors)}`)
    try {
      // Keywords that no schema has are refused when it is compiled.
      isValid(schema as TSchema, null)
    } catch (error) {
      faults.push(`${place}: ${error}`)
    }
  }
  t.same(faults, [])
})
