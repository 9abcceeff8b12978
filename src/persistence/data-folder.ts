import fs from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Extent, Files, TenantFile } from './tenant-file.js'
import {
  CorruptFileError,
  createTenantFile,
  discard,
  folderNameOf,
  newestGeneration,
  REMOVED,
  readTenant,
  removeEmpty,
  replaceFile,
  syncFolder,
} from './tenant-file.js'

export type { Files, TenantFile } from './tenant-file.js'

/** The folder cannot be used. The message is one line that names the path and why. */
export class DataFolderError extends Error {}

/**
 * What a server keeps beyond its end: one file per tenant, and the seed of all identifiers. All of it is synchronous,
 * so that to log, to sync and to apply a request is one step that nothing comes between.
 */
export interface DataFolder {
  /** The seed of every identifier in it: that of its first use. */
  readonly seed: string
  /**
   * Reads every tenant that is kept, in no particular order; to be called once, before any is begun. A tenant with a
   * corrupt file is left out: all that is kept of it gets another name, and `warn` is told both.
   * @throws DataFolderError if something cannot be read at all
   */
  load(): KeptTenant[]
  /**
   * Starts a tenant's file, also over an earlier one of the same client, which is the same object then. After a
   * crash either the old life is there whole or the new one.
   * @param clientId any text
   * @throws TypeError if the snapshot is no JSON value
   * @throws Error of the file system: nothing has changed then
   */
  begin(clientId: string, snapshot: unknown): TenantFile
  /** Releases the folder; neither it nor a file of it may be used from then on. */
  close(): void
}

/** A tenant as it was left. */
export interface KeptTenant {
  readonly clientId: string
  /** The newest. */
  readonly snapshot: unknown
  /** Those since the snapshot, in the order they were appended. */
  readonly entries: readonly unknown[]
  readonly file: TenantFile
}

export interface DataFolderOptions {
  /** Any text: the seed of a folder that has none yet. */
  readonly seed: string
  /** Whether the seed was configured, so that it must be the folder's. */
  readonly isSeedGiven: boolean
  /** Writes a line for the operator. */
  warn(message: string): void
}

const MANIFEST = 'sandbox.json'
const LOCK = 'lock'
const TENANTS = 'tenants'

/**
 * Takes the folder for this process, and makes it if it is not there.
 * @throws DataFolderError
 */
export function openDataFolder(path: string, options: DataFolderOptions, files: Files = fs): DataFolder {
  const folder = resolve(path)
  return orDataFolderError(folder, () => {
    makeFolder(files, folder)
    const lock = takeLock(files, folder)
    try {
      const seed = readSeed(files, folder, options)
      const tenants = join(folder, TENANTS)
      makeFolder(files, tenants)
      return { seed, ...createTenants(files, tenants, options.warn), close: () => releaseLock(files, lock) }
    } catch (error) {
      discard(files, lock)
      throw error
    }
  })
}

function orDataFolderError<T>(path: string, step: () => T): T {
  try {
    return step()
  } catch (error) {
    if (error instanceof DataFolderError) throw error
    throw new DataFolderError(`${JSON.stringify(path)} cannot be used: ${oneLine(error)}`, { cause: error })
  }
}

/** Node quotes the path, or the text that is no JSON, as it is. */
const oneLine = (error: unknown) => (error as Error).message.replaceAll(/\s+/g, ' ')

/** Makes a folder and those above it, and waits until they are on the disk. */
function makeFolder(files: Files, path: string) {
  const first = files.mkdirSync(path, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  for (let made = path; made.length >= first.length; made = dirname(made)) syncFolder(files, dirname(made))
}

/**
 * Creates the lock, with the id of this process. It keeps out the processes that this one can see, so none of another
 * container or machine.
 * @returns its path
 */
function takeLock(files: Files, folder: string): string {
  const path = join(folder, LOCK)
  if (!createLock(files, path)) {
    dropStaleLock(files, path)
    if (!createLock(files, path)) throw isInUse(path, readLock(path))
  }
  // While the file was still empty, another process may have taken it for stale.
  const holder = readLock(path)
  if (holder !== `${process.pid}`) throw isInUse(path, holder)
  return path
}

function createLock(files: Files, path: string): boolean {
  try {
    files.writeFileSync(path, `${process.pid}\n`, { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** @throws DataFolderError if the lock is that of a living process */
function dropStaleLock(files: Files, path: string) {
  const holder = readLock(path)
  if (isAlive(holder)) throw isInUse(path, holder)
  const stale = `${path}.${process.pid}`
  files.renameSync(path, stale)
  const dropped = readLock(stale)
  if (dropped !== holder) {
    // Another process was faster to see that the lock was stale, and this one was just its own.
    files.renameSync(stale, path)
    throw isInUse(path, dropped)
  }
  discard(files, stale)
}

/** Unless it is another's by now, as when the folder is closed twice. */
function releaseLock(files: Files, path: string) {
  if (fs.existsSync(path) && readLock(path) === `${process.pid}`) discard(files, path)
}

/** The process id that it holds; empty while it is being written, or if that was never finished. */
const readLock = (path: string) => /^(.*)\n$/.exec(fs.readFileSync(path, 'utf8'))?.[1] ?? ''

const isInUse = (path: string, holder: string) =>
  new DataFolderError(
    `${JSON.stringify(dirname(path))} is in use by ${holder === '' ? 'another process' : `process ${holder}`}: ` +
      `see its file ${LOCK}.`,
  )

/** Whether a process of this id lives, other than this one: after a crash, a container starts with the same ids. */
function isAlive(id: string): boolean {
  if (!/^[1-9]\d*$/.test(id) || id === `${process.pid}`) return false
  try {
    process.kill(Number(id), 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

const FORMAT = 'payments-sandbox/data'
const VERSION = 1

/** The seed of the folder; at its first use that of the options, which is kept. */
function readSeed(files: Files, folder: string, options: DataFolderOptions): string {
  const path = join(folder, MANIFEST)
  if (!fs.existsSync(path)) {
    // With another seed, its tenants would have other identifiers from here on.
    if (fs.existsSync(join(folder, TENANTS))) throw new DataFolderError(`${JSON.stringify(path)} is missing.`)
    const manifest = { format: FORMAT, version: VERSION, seed: options.seed }
    replaceFile(files, path, Buffer.from(`${JSON.stringify(manifest)}\n`))
    return options.seed
  }

  const seed = parseManifest(path)
  if (options.isSeedGiven && options.seed !== seed)
    throw new DataFolderError(
      `${JSON.stringify(folder)} was begun with another SANDBOX_SEED: leave the variable out, or give that one.`,
    )
  return seed
}

function parseManifest(path: string): string {
  let manifest: Partial<Record<string, unknown>> | null
  try {
    manifest = JSON.parse(fs.readFileSync(path, 'utf8'))
  } catch (error) {
    throw new DataFolderError(`${JSON.stringify(path)} cannot be read: ${oneLine(error)}`)
  }
  const seed = manifest?.seed
  if (manifest?.format !== FORMAT || manifest.version !== VERSION || typeof seed !== 'string')
    throw new DataFolderError(
      `${JSON.stringify(path)} is not of the format ${FORMAT} in version ${VERSION}, with a seed.`,
    )
  return seed
}

const TENANT = /^[0-9a-f]{32}$/

/** @param tenants the folder of all tenants; it is there */
function createTenants(
  files: Files,
  tenants: string,
  warn: DataFolderOptions['warn'],
): Pick<DataFolder, 'load' | 'begin'> {
  const known = new Map<string, TenantFile>()

  const createFile = (folder: string, clientId: string, extent: Extent) =>
    createTenantFile(files, folder, clientId, extent, () => known.delete(clientId))

  function loadTenant(folder: string): KeptTenant | undefined {
    try {
      const kept = readTenant(files, folder)
      if (kept === undefined) return undefined
      const { clientId, snapshot, entries, extent } = kept
      const file = createFile(folder, clientId, extent)
      known.set(clientId, file)
      return { clientId, snapshot, entries, file }
    } catch (error) {
      if (!(error instanceof CorruptFileError)) throw error
      warn(`${error.message}; the tenant is set aside as ${JSON.stringify(setAside(files, folder))}`)
      return undefined
    }
  }

  function beginFirst(clientId: string, snapshot: unknown): TenantFile {
    const folder = join(tenants, folderNameOf(clientId))
    try {
      makeFolder(files, folder)
      // There may be files: of a tenant that was not loaded, or of a first life that could not begin.
      const generation = newestGeneration(fs.readdirSync(folder))
      const file = createFile(folder, clientId, { generation, snapshotSize: 0, logSize: 0 })
      file.compact(snapshot)
      known.set(clientId, file)
      return file
    } catch (error) {
      removeEmpty(files, folder)
      throw error
    }
  }

  return {
    load: () =>
      orDataFolderError(tenants, () => {
        const names = fs.readdirSync(tenants).sort()
        for (const name of names) if (name.endsWith(REMOVED)) discard(files, join(tenants, name))
        return names
          .filter(name => TENANT.test(name))
          .map(name => join(tenants, name))
          .map(folder => orDataFolderError(folder, () => loadTenant(folder)))
          .filter(tenant => tenant !== undefined)
      }),
    begin(clientId, snapshot) {
      const file = known.get(clientId)
      if (file === undefined) return beginFirst(clientId, snapshot)
      file.compact(snapshot)
      return file
    },
  }
}

/** Gives a tenant's folder a name that none has had yet. @returns the name, with its path */
function setAside(files: Files, folder: string): string {
  let count = 1
  while (fs.existsSync(`${folder}.corrupt-${count}`)) count += 1
  const aside = `${folder}.corrupt-${count}`
  files.renameSync(folder, aside)
  syncFolder(files, dirname(folder))
  return aside
}
