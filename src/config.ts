import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { DEFAULT_BOUNDS } from './bounds.js'
import { quote } from './core/errors.js'
import { isOrigin } from './core/origins.js'
import type { Instant } from './core/time.js'
import { parseInstant } from './core/time.js'
import type { ClientEntry } from './sandbox.js'

/** The settings of the process, as the environment gives them (control plane, Settings of the process). */
export interface Config {
  readonly host: string
  /** 0 picks a free port. */
  readonly port: number
  readonly logLevel: LogLevel
  readonly seed: string
  /** Whether somebody chose the seed; if not, it is random. */
  readonly isSeedGiven: boolean
  /** An instant at which every tenant starts frozen; undefined: the real time. */
  readonly frozenAt: Instant | undefined
  /** A folder of fixtures beside the package's own; undefined: none. */
  readonly fixtures: string | undefined
  readonly clients: readonly ClientEntry[]
  readonly openRegistration: boolean
  readonly maxTenants: number
  /** In seconds. */
  readonly tokenLifetime: number
  /** Without a trailing slash; undefined: where the server listens. */
  readonly publicUrl: string | undefined
  /** What calls of the control plane must carry; undefined: nothing. */
  readonly adminToken: string | undefined
  /** The most requests in the log of one tenant. */
  readonly journalEntries: number
  /** The most bytes of all request logs together. */
  readonly journalBytes: number
  /** The most bytes of all recordings together; 0: nothing is recorded. */
  readonly recordingBytes: number
  /** The folder that keeps every tenant across restarts; undefined: they live in memory alone. */
  readonly data: string | undefined
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
type LogLevel = (typeof LOG_LEVELS)[number]

/** A setting that cannot be used. The message is one line: variable, value, and what is allowed. */
export class ConfigError extends Error {}

/** What a parser answers for a text that its variable does not allow. */
const WRONG = Symbol('wrong')

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads the settings; nothing else reads the environment. An empty variable counts as not set.
 * @throws ConfigError
 */
export function readConfig(environment: Environment): Config {
  const read = <T>(name: string, fallback: T, allowed: string, parse: (text: string) => T | typeof WRONG): T => {
    const text = environment[name]
    if (text === undefined || text === '') return fallback
    const value = parse(text)
    if (value === WRONG) throw new ConfigError(`${name}=${quote(text)} is not allowed: give ${allowed}.`)
    return value
  }
  const integer = (name: string, fallback: number, least: number, most: number) =>
    read(name, fallback, `an integer from ${least} to ${most}`, text => {
      const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
      return value >= least && value <= most ? value : WRONG
    })

  return {
    host: read('HOST', '127.0.0.1', 'a host name or address', text => (/^[\w.:%-]+$/.test(text) ? text : WRONG)),
    port: integer('PORT', 8080, 0, 65_535),
    logLevel: read<LogLevel>('LOG_LEVEL', 'info', `one of ${LOG_LEVELS.join(', ')}`, text =>
      isLogLevel(text) ? text : WRONG,
    ),
    seed: read('SANDBOX_SEED', randomBytes(8).toString('hex'), 'at most 256 printable ASCII characters', text =>
      /^[\x20-\x7e]{1,256}$/.test(text) ? text : WRONG,
    ),
    isSeedGiven: Boolean(environment.SANDBOX_SEED),
    frozenAt: read<Instant | undefined>(
      'SANDBOX_CLOCK',
      undefined,
      'real, or an instant as YYYY-MM-DDThh:mm:ssZ',
      text => (text === 'real' ? undefined : (parseInstant(text) ?? WRONG)),
    ),
    fixtures: environment.SANDBOX_FIXTURES || undefined,
    clients: read<readonly ClientEntry[]>('SANDBOX_CLIENTS', [], CLIENTS_FORM, readClients),
    openRegistration: read('SANDBOX_OPEN_REGISTRATION', true, 'true or false', text =>
      text === 'true' || text === 'false' ? text === 'true' : WRONG,
    ),
    maxTenants: integer('SANDBOX_MAX_TENANTS', 2000, 1, 1_000_000),
    tokenLifetime: integer('SANDBOX_TOKEN_TTL', 3600, 1, 315_360_000),
    publicUrl: read<string | undefined>('SANDBOX_PUBLIC_URL', undefined, 'an http or https URL without query', text =>
      isPublicUrl(text) ? text.replace(/\/+$/, '') : WRONG,
    ),
    adminToken: readAdminToken(environment),
    journalEntries: integer('SANDBOX_JOURNAL_ENTRIES', DEFAULT_BOUNDS.journalEntries, 0, 1_000_000),
    journalBytes: integer('SANDBOX_JOURNAL_BYTES', DEFAULT_BOUNDS.journalBytes, 0, MOST_BYTES),
    recordingBytes: integer('SANDBOX_RECORDING_BYTES', DEFAULT_BOUNDS.recordingBytes, 0, MOST_RECORDED),
    data: environment.SANDBOX_DATA || undefined,
  }
}

const MOST_BYTES = 8 * 1024 ** 3
/** What is recorded must go into one text, to be downloaded. */
const MOST_RECORDED = 256 * 1024 ** 2

/** A secret, so that a wrong one is not repeated. @throws ConfigError */
function readAdminToken({ SANDBOX_ADMIN_TOKEN: token }: Environment): string | undefined {
  if (token === undefined || token === '') return undefined
  if (/^[\x21-\x7e]{1,1000}$/.test(token)) return token
  throw new ConfigError('SANDBOX_ADMIN_TOKEN is not allowed: give at most 1000 printable ASCII characters, no spaces.')
}

const isLogLevel = (text: string): text is LogLevel => (LOG_LEVELS as readonly string[]).includes(text)

const isPublicUrl = (text: string) => /^https?:\/\/[^?#\s]+$/.test(text) && URL.canParse(text)

const CLIENTS_FORM =
  'a JSON file [{"clientId", "clientSecret", "scope"?, "fixture"?, "allowedOrigins"?}] of non-empty strings, no clientId twice'

function readClients(path: string): readonly ClientEntry[] | typeof WRONG {
  let value: unknown
  try {
    value = JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return WRONG
  }
  if (!Array.isArray(value) || !value.every(isClientEntry)) return WRONG
  const isDistinct = new Set(value.map(({ clientId }) => clientId)).size === value.length
  return isDistinct ? value : WRONG
}

const isText = (value: unknown) => typeof value === 'string' && value !== ''

/** It must go into a URL, and into one line. */
const isClientId = (value: unknown) => typeof value === 'string' && /^\S.*$/.test(value) && value.isWellFormed()

function isClientEntry(value: unknown): value is ClientEntry {
  if (value === null || typeof value !== 'object') return false
  const {
    clientId,
    clientSecret,
    scope = 'any',
    fixture = 'any',
    allowedOrigins = [],
  } = value as Record<string, unknown>
  return (
    isClientId(clientId) &&
    [clientSecret, scope, fixture].every(isText) &&
    Array.isArray(allowedOrigins) &&
    allowedOrigins.every(origin => typeof origin === 'string' && isOrigin(origin))
  )
}
