import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Static } from '@sinclair/typebox'
import { quote } from '../../core/errors.js'
import { textOf } from '../../core/text.js'
import { check } from '../../http/compilers.js'
import { loadOnce } from '../../http/load-once.js'
import { resolveDates } from '../../tenants/fixtures.js'
import { ScenarioFile } from './schemas.js'

type File = Static<typeof ScenarioFile>
export type Step = File['steps'][number]

/** A state that some steps bring a client into. */
export interface Scenario {
  readonly name: string
  readonly summary: string
  readonly title?: File['title']
  readonly story?: File['story']
  readonly parameters: NonNullable<File['parameters']>
  readonly steps: readonly Step[]
}

export type Scenarios = ReturnType<typeof createScenarios>

/** The folder of scenarios in a folder of fixtures. */
const FOLDER = 'scenarios'

/** Returns whether a folder of fixtures has scenarios. */
export const hasScenarios = (fixtures: string): boolean => existsSync(join(fixtures, FOLDER))

/**
 * Creates the scenarios of some folders of fixtures, by name; of two with the same name the later one counts.
 * Their files are read on first use: most servers never run one.
 */
export function createScenarios(...fixtures: string[]) {
  let loaded: ReadonlyMap<string, Scenario> = new Map()
  return {
    /** Reads the files, once. Rejects with an Error that names the wrong file. */
    load: loadOnce(async () => {
      loaded = await read(fixtures.filter(hasScenarios).map(folder => join(folder, FOLDER)))
      return loaded
    }),
    /** Returns a scenario after `load`, if there is one of the name. */
    find: (name: string): Scenario | undefined => loaded.get(name),
  }
}

async function read(folders: readonly string[]): Promise<ReadonlyMap<string, Scenario>> {
  const paths = folders.flatMap(folder => readdirSync(folder).map(file => join(folder, file)))
  const texts = paths.filter(path => path.endsWith('.yaml')).map(path => [path, textOf(readFileSync(path))] as const)
  // The package takes longer to load than the rest of a start. A failed import is never repeated: files come first.
  const { parse } = (await import('yaml')).default
  const files = new Map<string, File>()
  for (const [path, text] of texts) {
    const file = named(path, () => {
      const content: unknown = parse(text)
      check(ScenarioFile, content, 'INVALID_FIELD')
      return content as File
    })
    files.set(basename(path, '.yaml'), file)
    // Other requests come in between.
    await setImmediate()
  }
  const names = [...files.keys()].sort()
  return new Map(names.map(name => [name, named(`${name}.yaml`, () => checked(scenarioOf(name, files)))]))
}

/** Does something with a file. Throws an Error whose message names it. */
function named<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new Error(`${basename(path)}: ${(error as Error).message.split('\n')[0]}`)
  }
}

/** The number of steps of a scenario with those that come first. */
const MOST_STEPS = 50

/** Returns a scenario with the parameters and steps of those that it follows. */
function scenarioOf(name: string, files: ReadonlyMap<string, File>, followers: readonly string[] = []): Scenario {
  const file = files.get(name)
  if (file === undefined) throw new Error(`after: there is no scenario ${quote(name)}.`)
  if (followers.includes(name)) throw new Error(`after: the scenario ${quote(name)} follows itself.`)
  const { after, unlessGiven = [], parameters = {}, steps, ...texts } = file
  if (after === undefined) return { name, ...texts, parameters, steps }
  const first = scenarioOf(after, files, [...followers, name])
  return {
    name,
    ...texts,
    parameters: { ...first.parameters, ...parameters },
    steps: [
      ...first.steps.map(step => ({ ...step, unlessGiven: [...(step.unlessGiven ?? []), ...unlessGiven] })),
      ...steps,
    ],
  }
}

/** A placeholder of a value or a date. */
export const PLACEHOLDER = /\{\{([^{}]+)\}\}/g
/** The end of a reference that is new. */
export const NUMBER = 'number'

/** Refuses a scenario with a name that no parameter and no earlier step has. */
function checked(scenario: Scenario): Scenario {
  const { parameters, steps } = scenario
  if (steps.length === 0 || steps.length > MOST_STEPS) throw new Error(`There must be 1 to ${MOST_STEPS} steps.`)
  const known = new Set([NUMBER, ...Object.keys(parameters)])
  for (const [at, { unlessGiven = [], when = {}, keep = {}, region = '', params, body }] of steps.entries()) {
    const texts = JSON.stringify([region, params, body])
    const placeholders = [...texts.matchAll(PLACEHOLDER)].map(([, name = '']) => name)
    const unknown = [...unlessGiven, ...Object.keys(when), ...placeholders].find(
      name => !known.has(name) && !isDate(name),
    )
    if (unknown !== undefined) throw new Error(`steps.${at}: there is no value ${quote(unknown)} before it.`)
    for (const name of Object.keys(keep)) known.add(name)
  }
  return scenario
}

function isDate(name: string): boolean {
  try {
    resolveDates(`{{${name}}}`, 0)
    return true
  } catch {
    return false
  }
}
