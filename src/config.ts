import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
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
  }
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
    [clientId, clientSecret, scope, fixture].every(isText) &&
    Array.isArray(allowedOrigins) &&
    allowedOrigins.every(origin => typeof origin === 'string' && isOrigin(origin))
  )
}
