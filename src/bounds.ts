const MIB = 1024 * 1024

/** The default bounds of request logs and recordings (control plane, Settings). */
export const DEFAULT_BOUNDS = { journalEntries: 1000, journalBytes: 16 * MIB, recordingBytes: 32 * MIB } as const
