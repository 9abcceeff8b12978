const MIB = 1024 * 1024

/** The default bounds of request logs, state documents and the records of a client (control plane, Settings). */
export const DEFAULT_BOUNDS = {
  requestLogEntries: 1000,
  requestLogBytes: 16 * MIB,
  stateBytes: 64 * MIB,
  maxRecords: 50_000,
} as const

/** The longest id of a client, in characters. */
export const LONGEST_CLIENT_ID = 500
