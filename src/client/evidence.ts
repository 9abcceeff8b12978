import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Area } from '../areas/index.js'
import type { Call } from './connection.js'
import { ExpectationError } from './errors.js'
import type { Event, EventKind, Expectation, LoggedExchange } from './types.js'

/** The most explanations of a file. */
const MOST_EXPLAINED = 20

let files = 0

/**
 * Writes the evidence of an expectation that does not hold to a new file of the folder `SANDBOX_EVIDENCE`, if the variable
 * is set: the expectation, all requests and events, and the explanations of the records that both mention.
 * @returns the error with the path of the file in its message. A failure to write is in the message, too.
 */
export async function withEvidence(
  error: ExpectationError,
  expectation: Expectation,
  { clientId, control }: { readonly clientId: string; readonly control: Call },
): Promise<ExpectationError> {
  const folder = process.env.SANDBOX_EVIDENCE
  if (folder === undefined || folder === '') return error
  const { message, verification } = error
  try {
    const evidence = { message, clientId, expectation, verification, ...(await collect(control)) }
    const path = join(
      resolve(folder),
      `expect-${clientId.replace(/[^\w.-]/g, '_')}-${process.pid}-${Date.now()}-${++files}.json`,
    )
    await mkdir(resolve(folder), { recursive: true })
    await writeFile(path, `${JSON.stringify(evidence, null, 2)}\n`, { flag: 'wx' })
    return new ExpectationError(`${message}\nEvidence: ${path}`, verification, path)
  } catch (reason) {
    return new ExpectationError(`${message}\nThe evidence was not written: ${(reason as Error).message}`, verification)
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
  // A client that writes no evidence does not load the areas.
  const { areas } = await import('../areas/index.js')
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
