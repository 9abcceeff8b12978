import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Built, Held } from '../src/server.js'

/** Builds a server at once. Returns a reader of its counts, too. */
export function withHeld<T>(build: () => T): { built: T; held: () => Held } {
  let held: Built['held'] | undefined
  const note = (message: unknown) => {
    held = (message as Built).held
  }
  subscribe('payments-sandbox.built', note)
  const built = build()
  unsubscribe('payments-sandbox.built', note)
  if (held === undefined) throw new Error('No server was built.')
  return { built, held }
}
