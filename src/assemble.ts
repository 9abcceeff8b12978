import type { FastifyInstance } from 'fastify'
import type { AppOptions } from './app.js'
import { buildApp } from './app.js'
import { DEFAULT_BOUNDS } from './bounds.js'
import type { JournalOptions } from './http/journal.js'
import { createJournal } from './http/journal.js'
import { createRecordings } from './recording.js'
import type { Sandbox, SandboxOptions, Watcher } from './sandbox.js'
import { createSandbox } from './sandbox.js'

export interface AssembleOptions
  extends Omit<SandboxOptions, 'watchers'>,
    Omit<AppOptions, 'sandbox' | 'journal' | 'recordings'> {
  /** The bounds of the request log; where left out, those of the documentation. */
  readonly journal?: Partial<JournalOptions> | undefined
  /** The bound of all recordings together, in bytes; 0: none. */
  readonly recordingBytes?: number | undefined
  /** Who is told of lives before all others. */
  readonly watchers?: readonly Watcher[] | undefined
}

/** Puts a server together: its tenants, what is kept beside them, and the HTTP interface. It does not listen. */
export function assemble(options: AssembleOptions): { readonly app: FastifyInstance; readonly sandbox: Sandbox } {
  const { watchers = [], recordingBytes = DEFAULT_BOUNDS.recordingBytes } = options
  const { entries = DEFAULT_BOUNDS.journalEntries, bytes = DEFAULT_BOUNDS.journalBytes } = options.journal ?? {}
  const journal = createJournal({ entries, bytes })
  const recordings = createRecordings(recordingBytes)
  const logs: Watcher = {
    began({ clientId }, { how }) {
      if (how === 'reset') journal.forget(clientId)
    },
    ended: clientId => journal.forget(clientId),
  }
  const sandbox = createSandbox({ ...options, watchers: [...watchers, recordings, logs] })
  return { sandbox, app: buildApp({ ...options, sandbox, journal, recordings }) }
}
