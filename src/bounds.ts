const MIB = 1024 * 1024

/** The bounds of what is kept beside the tenants, where nobody says otherwise (control plane, Settings). */
export const DEFAULT_BOUNDS = { journalEntries: 1000, journalBytes: 16 * MIB, recordingBytes: 32 * MIB } as const
