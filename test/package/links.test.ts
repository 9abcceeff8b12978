import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { operationsOf } from '../docs/contract.js'
import { skip } from '../docs/walk.js'
import { mandate } from '../helper.js'
import { requestTokenAt } from '../program.js'
import { install } from './install.js'

t.test('decisions §1: Location of a created mandate, followed with curl', { skip }, async t => {
  const { sh, start } = install()
  const { url } = await start(t)
  const { access_token } = await (await requestTokenAt(url)).json()
  const { code, stdout, stderr } = await sh(
    `
    api() { curl -sS -H "authorization: Bearer $TOKEN" -H 'x-region: EU' "$@"; }
    location=$(api ${url}/api/v1/mandates --json "$MANDATE" -o /dev/null -D - | tr -d '\\r' | sed -n 's/^location: //p')
    api "${url}$location"
  `,
    { env: { TOKEN: access_token, MANDATE: JSON.stringify(mandate({ mandateReference: 'MND-0077' })) } },
  )
  t.equal(code, 0, stderr)
  t.match(JSON.parse(stdout), { mandateReference: 'MND-0077', status: 'ACTIVE' })
})

interface Step {
  operationId?: string
  workflowId?: string
  parameters?: { name?: string; reference?: string }[]
}

t.test('decisions §1: the steps of the workflows are operations of the documents beside them', async t => {
  const folder = join(install().home, 'openapi')
  const read = (file: string) => parse(readFileSync(join(folder, file), 'utf8'), { maxAliasCount: -1 })
  const { arazzo, sourceDescriptions, workflows, components } = read('workflows.arazzo.yaml')
  t.match(arazzo, /^1\.0\.\d$/)
  const operations = new Map<string, string[]>()
  for (const { name, url } of sourceDescriptions) {
    for (const { id, operation } of operationsOf(read(url))) {
      const names = (operation.parameters ?? []).map((parameter: { name: string }) => parameter.name)
      operations.set(`$sourceDescriptions.${name}.${id}`, ['Authorization', ...names])
    }
  }
  const nameOf = ({ name, reference = '' }: { name?: string; reference?: string }) =>
    name ?? components.parameters[reference.split('.').at(-1) as string].name
  const steps: Step[] = workflows.flatMap((workflow: { steps: Step[] }) => workflow.steps)
  t.ok(steps.length > 40)
  const wrong = steps.filter(({ operationId, workflowId, parameters = [] }) =>
    operationId === undefined
      ? workflowId !== 'begin'
      : !parameters.every(parameter => operations.get(operationId)?.includes(nameOf(parameter))),
  )
  t.same(wrong, [])
})
