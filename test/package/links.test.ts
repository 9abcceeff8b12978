import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { operationsOf } from '../docs/contract.js'
import { install } from './install.js'

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
