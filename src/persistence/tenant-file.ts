import fs, { constants } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { sha256 } from '../core/digests.js'
import { shorten } from '../core/errors.js'

/** What of node:fs changes a disk, so that a test can have it fail. */
export type Files = Pick<
  typeof fs,
  | 'closeSync'
  | 'fdatasyncSync'
  | 'fsyncSync'
  | 'ftruncateSync'
  | 'mkdirSync'
  | 'openSync'
  | 'renameSync'
  | 'rmSync'
  | 'rmdirSync'
  | 'writeFileSync'
>

/**
 * What is kept of one tenant: a snapshot and the entries since. On the disk it is a folder of its own with two files
 * for a generation, `N.snapshot` and `N.log`. A snapshot that is there always has its log.
 */
export interface TenantFile {
  /**
   * Appends one JSON value and waits until it is on the disk.
   * @throws TypeError if it is no JSON value
   * @throws Error of the file system: then nothing of it is left in the file; if even that fails, every later append
   * throws until a `compact` or `begin` succeeds
   */
  append(entry: unknown): void
  /** Whether so much was appended that a new snapshot is worth it: more than 1 MiB and twice the snapshot. */
  readonly isLong: boolean
  /**
   * Replaces the old snapshot and the entries since by a new snapshot. After a crash, one of both is complete.
   * @throws TypeError if it is no JSON value
   * @throws Error of the file system: the old ones count still
   */
  compact(snapshot: unknown): void
  /** Deletes all of it; append and compact throw from then on. @throws Error of the file system */
  remove(): void
}

/** What a tenant's folder holds. */
export interface Kept {
  readonly clientId: string
  readonly snapshot: unknown
  readonly entries: readonly unknown[]
  readonly extent: Extent
}

/** How far a tenant's files go. */
export interface Extent {
  /** From 1; 0: there is none yet. */
  readonly generation: number
  /** In bytes. */
  readonly snapshotSize: number
  /** In bytes: where the next entry begins. */
  readonly logSize: number
}

/** A file is not as it was written. The message is one line that names it and what is wrong. */
export class CorruptFileError extends Error {
  constructor(path: string, what: string) {
    super(`${JSON.stringify(path)} ${what}`)
  }
}

const FORMAT = 'payments-sandbox/tenant'
const VERSION = 1
const MEBIBYTE = 1_048_576
const NEWLINE = 10
const CHECKSUM_DIGITS = 16

/** Not created if it is missing: an entry without its snapshot would be lost in silence. */
const APPEND = constants.O_WRONLY | constants.O_APPEND

const snapshotOf = (folder: string, generation: number) => join(folder, `${generation}.snapshot`)
const logOf = (folder: string, generation: number) => join(folder, `${generation}.log`)
const temporary = (path: string) => `${path}.tmp`

/**
 * The name of a client's folder: 32 hex digits, since a client id may have any characters, and too many. The id
 * itself is in the snapshot. It is hashed as JSON, since in UTF-8 every lone half of a surrogate pair is the same.
 */
export const folderNameOf = (clientId: string) => sha256(JSON.stringify(clientId)).slice(0, 32)

/**
 * The file of one tenant. It holds no descriptor: a sync takes so much longer than to open and close a file that a
 * cache would gain nothing, and thousands of tenants would be as many descriptors.
 * @param folder of this tenant alone; it is there
 * @param extent as `readTenant` found it; without a snapshot yet, `compact` must come first
 * @param removed called once, when it has been removed
 */
export function createTenantFile(
  files: Files,
  folder: string,
  clientId: string,
  extent: Extent,
  removed: () => void,
): TenantFile {
  let { generation, snapshotSize, logSize } = extent
  let state: 'whole' | 'broken' | 'removed' = 'whole'

  function cutBack(descriptor: number) {
    try {
      files.ftruncateSync(descriptor, logSize)
      files.fsyncSync(descriptor)
    } catch {
      state = 'broken'
    }
  }

  /** Removes an unfinished generation: if a start found it after a crash, later entries would be lost. */
  function takeBack(next: number) {
    const path = snapshotOf(folder, next)
    try {
      files.rmSync(path, { force: true })
      syncFolder(files, folder)
    } catch {
      state = 'broken'
    }
    for (const leftover of [temporary(path), logOf(folder, next)]) discard(files, leftover)
  }

  return {
    get isLong() {
      return logSize > Math.max(MEBIBYTE, 2 * snapshotSize)
    },
    append(entry) {
      const line = formatLine(entry)
      const path = logOf(folder, generation)
      if (state !== 'whole') throw new Error(`${JSON.stringify(path)} is ${state}: nothing can be appended`)
      withFile(files, path, APPEND, descriptor => {
        try {
          files.writeFileSync(descriptor, line)
          files.fdatasyncSync(descriptor)
        } catch (error) {
          cutBack(descriptor)
          throw error
        }
      })
      logSize += line.length
    },
    compact(snapshot) {
      const bytes = formatSnapshot(clientId, snapshot)
      if (state === 'removed') throw new Error(`${JSON.stringify(folder)} is removed: it takes no snapshot`)
      const next = generation + 1
      try {
        writeFile(files, logOf(folder, next), Buffer.alloc(0))
        replaceFile(files, snapshotOf(folder, next), bytes)
      } catch (error) {
        takeBack(next)
        throw error
      }
      for (const path of [snapshotOf(folder, generation), logOf(folder, generation)]) discard(files, path)
      generation = next
      snapshotSize = bytes.length
      logSize = 0
      state = 'whole'
    },
    remove() {
      if (state === 'removed') return
      // The new name makes it one step: after a crash while deleting, the rest is not read as a tenant.
      const leftover = `${folder}${REMOVED}`
      files.rmSync(leftover, { recursive: true, force: true })
      files.renameSync(folder, leftover)
      state = 'removed'
      removed()
      syncFolder(files, dirname(folder))
      discard(files, leftover)
    },
  }
}

/** The end of the name of a tenant's folder that is about to be deleted. */
export const REMOVED = '.removed'

/**
 * What a tenant's folder holds: the newest snapshot and the entries since. What a crash left is mended: the half of
 * an entry that was being appended, a generation that was not finished, one that was not deleted.
 * @returns undefined if no snapshot was ever finished: the folder is deleted
 * @throws CorruptFileError, Error of the file system
 */
export function readTenant(files: Files, folder: string): Kept | undefined {
  const names = fs.readdirSync(folder)
  const generation = newestGeneration(names, 'snapshot')
  const newestLog = newestGeneration(names, 'log')
  if (newestLog > generation && fs.statSync(logOf(folder, newestLog)).size > 0)
    throw new CorruptFileError(snapshotOf(folder, newestLog), 'is missing: its log has entries')
  if (generation === 0) {
    discardLeftovers(files, folder, names, generation)
    removeEmpty(files, folder)
    return undefined
  }

  const { clientId, snapshot, size } = readSnapshot(folder, snapshotOf(folder, generation))
  const path = logOf(folder, generation)
  if (!names.includes(basename(path))) throw new CorruptFileError(path, 'is missing')
  const { entries, logSize, isTorn } = readLog(path)
  if (isTorn) cut(files, path, logSize)
  // Last, so that all of it is set aside together if something is wrong.
  discardLeftovers(files, folder, names, generation)
  return { clientId, snapshot, entries, extent: { generation, snapshotSize: size, logSize } }
}

const GENERATION_FILE = /^([1-9]\d*)\.(snapshot|log|snapshot\.tmp)$/

/** The newest generation that has a file: of one kind, or of any. 0: none. */
export function newestGeneration(names: readonly string[], kind?: 'snapshot' | 'log'): number {
  const matches = names.map(name => GENERATION_FILE.exec(name)).filter(match => match !== null)
  return Math.max(0, ...matches.filter(match => kind === undefined || match[2] === kind).map(match => Number(match[1])))
}

/** All files of generations but this one. What is not the server's own stays. */
function discardLeftovers(files: Files, folder: string, names: readonly string[], generation: number) {
  for (const name of names) {
    const match = GENERATION_FILE.exec(name)
    if (match !== null && (match[1] !== `${generation}` || match[2] === 'snapshot.tmp'))
      discard(files, join(folder, name))
  }
}

/** A line of JSON that says what it is and the checksum of the rest, and the rest: the snapshot. */
function formatSnapshot(clientId: string, snapshot: unknown): Buffer {
  const body = `${toJson(snapshot)}\n`
  const header = { format: FORMAT, version: VERSION, clientId, sha256: sha256(body) }
  return Buffer.from(`${JSON.stringify(header)}\n${body}`)
}

function readSnapshot(folder: string, path: string): { clientId: string; snapshot: unknown; size: number } {
  const bytes = fs.readFileSync(path)
  const bodyStart = bytes.indexOf(NEWLINE) + 1
  const body = bytes.subarray(bodyStart)
  const header = parseJson(bytes.subarray(0, bodyStart)) as Partial<Record<string, unknown>> | null | undefined
  if (header?.format !== FORMAT) throw new CorruptFileError(path, 'is no snapshot of a tenant')
  const { version, clientId } = header
  if (version !== VERSION)
    throw new CorruptFileError(path, `is of version ${shorten(`${JSON.stringify(version)}`)}, not ${VERSION}`)
  if (typeof clientId !== 'string' || folderNameOf(clientId) !== basename(folder))
    throw new CorruptFileError(path, 'is of another client than its folder')
  const snapshot = header.sha256 === sha256(body) ? parseJson(body) : undefined
  if (snapshot === undefined) throw new CorruptFileError(path, 'is damaged: its checksum is wrong')
  return { clientId, snapshot, size: bytes.length }
}

const checksum = (json: Uint8Array | string) => sha256(json).slice(0, CHECKSUM_DIGITS)

function formatLine(entry: unknown): Buffer {
  const json = toJson(entry)
  return Buffer.from(`${checksum(json)} ${json}\n`)
}

/** @returns the entry; undefined if the line is not whole */
function parseLine(line: Buffer): unknown {
  const json = line.subarray(CHECKSUM_DIGITS + 1)
  const start = line.subarray(0, CHECKSUM_DIGITS + 1).toString('latin1')
  return start === `${checksum(json)} ` ? parseJson(json) : undefined
}

/** Only the last line may be wrong, since it was being written when the server ended: it does not count. */
function readLog(path: string): { entries: unknown[]; logSize: number; isTorn: boolean } {
  const bytes = fs.readFileSync(path)
  const entries: unknown[] = []
  let logSize = 0
  while (logSize < bytes.length) {
    const end = bytes.indexOf(NEWLINE, logSize)
    const entry = end === -1 ? undefined : parseLine(bytes.subarray(logSize, end))
    const isLast = end === -1 || end + 1 === bytes.length
    if (entry === undefined && !isLast) throw new CorruptFileError(path, `is damaged in line ${entries.length + 1}`)
    if (entry === undefined) return { entries, logSize, isTorn: true }
    entries.push(entry)
    logSize = end + 1
  }
  return { entries, logSize, isTorn: false }
}

function toJson(value: unknown): string {
  const json: string | undefined = JSON.stringify(value)
  if (json === undefined) throw new TypeError(`${typeof value} is no JSON value`)
  return json
}

/** @returns undefined if it is not JSON */
function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return undefined
  }
}

/** Calls with the descriptor of an opened file. That it cannot be closed says nothing of what was synced before. */
function withFile(files: Files, path: string, flags: string | number, use: (descriptor: number) => void) {
  const descriptor = files.openSync(path, flags, 0o600)
  try {
    use(descriptor)
  } finally {
    attempt(() => files.closeSync(descriptor))
  }
}

function writeFile(files: Files, path: string, bytes: Buffer) {
  withFile(files, path, 'w', descriptor => {
    files.writeFileSync(descriptor, bytes)
    files.fsyncSync(descriptor)
  })
}

function cut(files: Files, path: string, size: number) {
  withFile(files, path, 'r+', descriptor => {
    files.ftruncateSync(descriptor, size)
    files.fsyncSync(descriptor)
  })
}

/**
 * Writes a file in one step, with mode 0600, and waits until it is on the disk. What was written to its folder
 * before is on the disk before.
 * @throws Error of the file system: the step may have been taken or not
 */
export function replaceFile(files: Files, path: string, bytes: Buffer): void {
  writeFile(files, temporary(path), bytes)
  syncFolder(files, dirname(path))
  files.renameSync(temporary(path), path)
  syncFolder(files, dirname(path))
}

/** Windows and some file systems know no such thing as to sync a folder. */
const NOT_FOR_FOLDERS: readonly unknown[] = ['EPERM', 'EINVAL']

/** Waits until the names of a folder's files are on the disk. @throws Error of the file system */
export function syncFolder(files: Files, path: string): void {
  withFile(files, path, 'r', descriptor => {
    try {
      files.fsyncSync(descriptor)
    } catch (error) {
      if (!NOT_FOR_FOLDERS.includes((error as NodeJS.ErrnoException).code)) throw error
    }
  })
}

/** Deletes a left-over. It does no harm, so it may stay: each time the folder is read, it is tried again. */
export function discard(files: Files, path: string): void {
  attempt(() => files.rmSync(path, { recursive: true, force: true }))
}

/** Deletes a folder unless there is something in it. */
export function removeEmpty(files: Files, path: string): void {
  attempt(() => files.rmdirSync(path))
}

function attempt(step: () => void) {
  try {
    step()
  } catch {
    // The caller goes on alike.
  }
}
