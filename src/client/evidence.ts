import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Call } from './connection.js'
import type { Evidence } from './types.js'

/** The longest part of the name of a file that is the name of a test. */
const LONGEST_NAME = 80

let files = 0

/** The client whose evidence is written. */
export interface Source {
  readonly clientId: string
  readonly control: Call
}

/** What is known of a failure. */
interface Facts {
  /** The name of the test. */
  readonly test?: string | undefined
  readonly message?: string
}

/**
 * Writes the evidence of a failure to a new file of the folder `SANDBOX_EVIDENCE`: its summary, what is known of the failure, and
 * all requests, events and records.
 * @param name the first part of the file name, before the name of the test
 * @returns the path of the file, or undefined if the variable is not set
 */
export async function writeEvidence(
  { clientId, control }: Source,
  name: string,
  facts: Facts = {},
): Promise<string | undefined> {
  const folder = process.env.SANDBOX_EVIDENCE
  if (folder === undefined || folder === '') return undefined
  const { summary, ...evidence } = await control<Evidence>('GET', '/evidence')
  const parts = [name, ...(facts.test === undefined ? [] : [facts.test.slice(0, LONGEST_NAME)]), clientId]
  const label = parts.map(part => part.replace(/[^\p{L}\p{N}_.-]+/gu, '_')).join('-')
  const path = join(resolve(folder), `${label}-${process.pid}-${Date.now()}-${++files}.json`)
  await mkdir(resolve(folder), { recursive: true })
  await writeFile(path, `${JSON.stringify({ summary, ...facts, ...evidence }, null, 2)}\n`, { flag: 'wx' })
  return path
}

/**
 * Writes the evidence of an error, if the variable is set.
 * @returns the message of the error with the path, or with the reason why nothing was written; and the path
 */
export async function evidenceOf(
  source: Source,
  name: string,
  facts: Facts & { readonly message: string },
): Promise<{ readonly message: string; readonly path?: string | undefined }> {
  const { message } = facts
  try {
    const path = await writeEvidence(source, name, facts)
    return path === undefined ? { message } : { message: `${message}\nEvidence: ${path}`, path }
  } catch (reason) {
    return { message: `${message}\nThe evidence was not written: ${(reason as Error).message}` }
  }
}
