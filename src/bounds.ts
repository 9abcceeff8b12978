const MIB = 1024 * 1024

/** The default bounds of request logs, recordings and state documents (control plane, Settings). */
export const DEFAULT_BOUNDS = {
  journalEntries: 1000,
  journalBytes: 16 * MIB,
  recordingBytes: 32 * MIB,
  stateBytes: 32 * MIB,
} as const
