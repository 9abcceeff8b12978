import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { build } from '../helper.js'

/**
 * docs/requests.md is made from the schemas that requests are held against, so that it cannot differ from them.
 * `UPDATE_DOCS=1 npx tap --disable-coverage build/test/docs/request-docs.test.js` writes it.
 */
const FILE = 'docs/requests.md'

interface Schema {
  type?: string
  properties?: Record<string, Schema>
  items?: Schema
  required?: string[]
  anyOf?: { required: string[] }[]
  const?: unknown
  default?: unknown
  minimum?: number
  maximum?: number
  'x-expected'?: string
  'x-fidelity'?: string
  'x-fidelity-constraints'?: Record<string, string>
}

const INTRODUCTION = `# Requests

What each operation takes, made from the schemas that requests are held against. \`*\` marks what is required; the last
column tells what the service documents from what the sandbox assumes. Members and parameters that are not listed are
ignored, and named in the response header \`Sandbox-Hint\`. Bodies are JSON but where it says otherwise; array parameters
take \`status=A&status=B\` and \`status=A,B\`. All but the token request need \`Authorization: Bearer …\` and \`x-region\`;
calls of the control plane need neither, but the admin token where one is set, and take \`?client=\`.
`

function expectation(schema: Schema): string {
  if (schema['x-expected'] !== undefined) {
    return schema.default === undefined ? schema['x-expected'] : `${schema['x-expected']}; default ${schema.default}`
  }
  if (schema.type === 'array') return `any of: ${schema.items === undefined ? '' : expectation(schema.items)}`
  return schema.type ?? 'anything'
}

function rows(schema: Schema, prefix: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const mark = schema.required?.includes(name) ? '*' : ''
    const constrained = { ...(property.type === 'array' ? property.items : property) }
    const remark = constrained['x-fidelity-constraints'] === undefined ? '' : ', constraints assumed'
    const row = `| \`${prefix}${name}\`${mark} | ${expectation(property)} | ${property['x-fidelity']}${remark} |`
    const inner = property.type === 'array' ? property.items : property
    const nested = property.type === 'array' ? `${prefix}${name}[].` : `${prefix}${name}.`
    return [row, ...rows(inner ?? {}, nested)]
  })
}

function table(title: string, schema: Schema | undefined): string {
  const lines = schema === undefined ? [] : rows(schema, '').filter(row => !row.startsWith('| `client` '))
  if (lines.length === 0) return ''
  const choice = schema?.anyOf?.map(({ required }) => `\`${required[0]}\``).join(', ')
  const note = choice === undefined ? '' : `At least one of ${choice}.\n\n`
  return `${note}| ${title} | | |\n|---|---|---|\n${lines.join('\n')}\n\n`
}

t.test('docs/requests.md tells what the schemas hold requests against', async t => {
  const app = build(t)
  const sections: string[] = []
  app.addHook('onRoute', ({ method, url, schema, config }) => {
    if (method === 'HEAD' || schema === undefined) return
    const { querystring, body } = schema as { querystring?: Schema; body?: Schema }
    const consumes = config?.consumes
    const form = consumes === 'multipart/form-data' ? `\`${consumes}\` with one part \`file\`.\n\n` : ''
    const urlencoded = body !== undefined && consumes !== undefined ? `\`${consumes}\`\n\n` : ''
    const content = form + urlencoded + table('parameter', querystring) + table('member', body)
    if (content === '') return
    const path = url.replace(/:(\w+)/g, '{$1}')
    sections.push(`## ${method} ${path}\n\n${schema.summary}.\n\n${content}`)
  })
  await app.ready()
  const text = `${[INTRODUCTION, ...sections].join('\n').trimEnd()}\n`.replace(/\n{3,}/g, '\n\n')

  if (process.env.UPDATE_DOCS === '1') writeFileSync(FILE, text)
  t.equal(readFileSync(FILE, 'utf8'), text)
})
