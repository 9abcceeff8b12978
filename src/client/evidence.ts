import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Area } from '../areas/index.js'
import { areas } from '../areas/index.js'
import type { Call } from './connection.js'
import type { Event, EventKind, LoggedExchange } from './types.js'

/** The most explanations of a file. */
const MOST_EXPLAINED = 20

let files = 0

/** The client whose evidence is written. */
export interface Source {
  readonly clientId: string
  readonly control: Call
}

/**
 * Writes the evidence of a failure to a new file of the folder `SANDBOX_EVIDENCE`: what is known of the failure, all requests
 * and events, and the explanations of the records that both mention.
 * @param name the first part of the file name
 * @returns the path of the file; undefined: the variable is not set
 */
export async function writeEvidence(
  { clientId, control }: Source,
  name: string,
  facts = {},
): Promise<string | undefined> {
  const folder = process.env.SANDBOX_EVIDENCE
  if (folder === undefined || folder === '') return undefined
  const evidence = { ...facts, clientId, ...(await collect(control)) }
  const file = `${name}-${clientId.replace(/[^\w.-]/g, '_')}-${process.pid}-${Date.now()}-${++files}.json`
  const path = join(resolve(folder), file)
  await mkdir(resolve(folder), { recursive: true })
  await writeFile(path, `${JSON.stringify(evidence, null, 2)}\n`, { flag: 'wx' })
  return path
}

/**
 * Writes the evidence of an error, if the variable is set.
 * @returns the message of the error with the path, or with the reason why nothing was written; and the path
 */
export async function evidenceOf(
  source: Source,
  name: string,
  facts: { readonly message: string },
): Promise<{ readonly message: string; readonly path?: string | undefined }> {
  const { message } = facts
  try {
    const path = await writeEvidence(source, name, facts)
    return path === undefined ? { message } : { message: `${message}\nEvidence: ${path}`, path }
  } catch (reason) {
    return { message: `${message}\nThe evidence was not written: ${(reason as Error).message}` }
  }
}

async function collect(control: Call) {
  const { now } = await control<{ now: string }>('GET', '/clock')
  const { data: requests } = await control<{ data: LoggedExchange[] }>('GET', '/requests')
  const events: Event[] = []
  for (let after = 0; ; ) {
    const { data, last } = await control<{ data: Event[]; last: number }>('GET', '/events', { query: { after } })
    events.push(...data)
    if (data.at(-1)?.seq !== last) break
    after = last
  }
  return { now, explanations: await explain(control, requests, events), requests, events }
}

/** Returns the explanations of the records that requests mention, those with the latest events first. */
async function explain(control: Call, requests: readonly LoggedExchange[], events: readonly Event[]) {
  const text = JSON.stringify(requests.map(({ path, body, responseBody }) => [path, body, responseBody]))
  const records = new Map<string, Event>()
  for (const event of [...events].reverse()) {
    const { kind, reference } = event
    if (records.size < MOST_EXPLAINED && text.includes(reference)) records.set(`${kind} ${reference}`, event)
  }
  const pathOf = (kind: EventKind) => Object.values<Area>(areas).find(area => area.lifecycle?.kind === kind)?.path
  const explanations: object[] = []
  for (const { kind, reference } of records.values()) {
    const path = `/${pathOf(kind)}/${encodeURIComponent(reference)}`
    // Bills of two regions can have one reference.
    const explained = await control<object>('GET', path).catch(() => undefined)
    if (explained !== undefined) explanations.push({ kind, reference, ...explained })
  }
  return explanations
}
