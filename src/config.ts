import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import leven from 'leven'
import { DEFAULT_BOUNDS, LONGEST_CLIENT_ID } from './bounds.js'
import { MAX_ACCOUNT_HOLDER_NAME, nameFlaw } from './core/domain/identifiers.js'
import { quote, shorten } from './core/errors.js'
import { isHostPattern } from './core/hosts.js'
import { isOriginPattern } from './core/origins.js'
import { textOf } from './core/text.js'
import type { Instant } from './core/time/time.js'
import { parseInstant } from './core/time/time.js'
import type { ClientEntry } from './tenants/registry.js'

/** A setting of the process. Its option is the variable without `SANDBOX_`: `SANDBOX_TOKEN_TTL` is `--token-ttl`. */
interface Setting {
  /** The name of the environment variable. */
  readonly variable: string
  /** The value in the help. */
  readonly value: string
  /** The description in the help. The help only names a setting without one. */
  readonly help?: string
  /** The earlier name of the variable, which still works where the setting has no other value. */
  readonly formerly?: string
}

/** All settings, in the order of the help. */
export const SETTINGS = [
  { variable: 'HOST', value: 'ADDRESS', help: 'listening address (127.0.0.1)' },
  { variable: 'PORT', value: 'NUMBER', help: 'listening port (8080); 0 selects a free port' },
  { variable: 'LOG_LEVEL', value: 'LEVEL', help: 'info; debug logs each request' },
  { variable: 'SANDBOX_SEED', value: 'TEXT', help: 'makes ids and tokens the same on every run' },
  { variable: 'SANDBOX_CLOCK', value: 'INSTANT', help: 'YYYY-MM-DDThh:mm:ssZ: clocks start frozen at it' },
  { variable: 'SANDBOX_FIXTURE', value: 'NAME', help: 'first records of sandbox-client: demo or empty' },
  { variable: 'SANDBOX_FIXTURES', value: 'FOLDER', help: 'more fixtures' },
  { variable: 'SANDBOX_DATA', value: 'FOLDER', help: 'keeps all clients across restarts' },
  { variable: 'SANDBOX_SQLITE_SYNCHRONOUS', value: 'MODE' },
  { variable: 'SANDBOX_DATABASE_URL', value: 'URL', help: 'keeps all clients in Postgres, for several servers' },
  { variable: 'SANDBOX_CLIENTS', value: 'FILE', help: 'a JSON list of clients' },
  { variable: 'SANDBOX_OPEN_REGISTRATION', value: 'BOOLEAN' },
  { variable: 'SANDBOX_MAX_TENANTS', value: 'NUMBER' },
  { variable: 'SANDBOX_MAX_RECORDS', value: 'NUMBER' },
  { variable: 'SANDBOX_TOKEN_TTL', value: 'SECONDS' },
  { variable: 'SANDBOX_PUBLIC_URL', value: 'URL' },
  { variable: 'SANDBOX_ALLOWED_HOSTS', value: 'HOSTS' },
  { variable: 'SANDBOX_CORS_ORIGINS', value: 'ORIGINS' },
  { variable: 'SANDBOX_ADMIN_TOKEN', value: 'TEXT' },
  { variable: 'SANDBOX_REQUEST_LOG_ENTRIES', value: 'NUMBER', formerly: 'SANDBOX_JOURNAL_ENTRIES' },
  { variable: 'SANDBOX_REQUEST_LOG_BYTES', value: 'BYTES', formerly: 'SANDBOX_JOURNAL_BYTES' },
  { variable: 'SANDBOX_STATE_BYTES', value: 'BYTES' },
] as const satisfies readonly Setting[]

type Variable = (typeof SETTINGS)[number]['variable']

/** The variables of commands and of the library. A process can have them beside the settings of a server. */
const OTHER_VARIABLES = ['SANDBOX_URL', 'SANDBOX_CLIENT', 'SANDBOX_CLIENT_SECRET', 'SANDBOX_EVIDENCE']

/** The earlier names of variables. */
const FORMER_NAMES: ReadonlyMap<string, string> = new Map(
  SETTINGS.flatMap(setting => ('formerly' in setting ? [[setting.variable, setting.formerly]] : [])),
)

/** Returns the name of the command line option of a variable, without dashes. */
export const optionOf = (variable: string): string =>
  variable
    .replace(/^SANDBOX_/, '')
    .toLowerCase()
    .replaceAll('_', '-')

/** The settings of the process (docs/settings.md). */
export type Config = ReturnType<typeof readConfig>

/** An invalid setting. The message is one line with the variable, its value and the allowed values. */
export class ConfigError extends Error {}

/** The result of a parser for an invalid value. */
const INVALID = Symbol('invalid')

/** Values of settings by the names of their variables. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Returns the name that is nearest to a mistyped one. */
export const nearestName = (given: string, names: readonly string[]): string =>
  names.reduce((best, name) => (leven(given, name) < leven(given, best) ? name : best))

/** The variable of Kubernetes for a service that is named as a setting, such as `SANDBOX_PORT` of a service `sandbox`. */
const isServiceLink = (value: string) => /^(tcp|udp|sctp):\/\//.test(value)

const lettersOf = (text: string) => [...text].sort().join('')

/** Returns whether an option is mistyped: a sixth of its letters differ, at least one, or they are in another order. */
const isMistyped = (given: string, option: string) =>
  leven(given, option) <= Math.max(1, Math.floor(option.length / 6)) || lettersOf(given) === lettersOf(option)

/**
 * Returns the names of variables that look like settings, but belong to other programs.
 * @throws ConfigError for one that is nearly a setting
 */
export function unknownVariables(environment: Environment): readonly string[] {
  const variables = SETTINGS.map(({ variable }) => variable)
  const known = new Set<string>([...variables, ...FORMER_NAMES.values(), ...OTHER_VARIABLES])
  const unknown: string[] = []
  for (const [name, value] of Object.entries(environment)) {
    if (!value || !/^SANDBOX_/i.test(name) || known.has(name) || isServiceLink(value)) continue
    const given = optionOf(name.toUpperCase())
    const nearest = variables.find(variable => isMistyped(given, optionOf(variable)))
    if (nearest !== undefined) throw new ConfigError(`${shorten(name)} is no setting. Did you mean ${nearest}?`)
    unknown.push(name)
  }
  return unknown
}

/**
 * Reads the settings from environment variables. Treats an empty variable as unset.
 * @throws ConfigError
 */
export function readConfig(environment: Environment) {
  const read = <T>(given: Variable, fallback: T, allowed: string, parse: (text: string) => T | typeof INVALID): T => {
    const former = FORMER_NAMES.get(given)
    const name = former !== undefined && !environment[given] ? former : given
    const text = environment[name]
    if (text === undefined || text === '') return fallback
    const value = parse(text)
    if (value === INVALID) throw new ConfigError(`${name}=${quote(text)} is not allowed: give ${allowed}.`)
    return value
  }
  const oneOf = <T extends string>(name: Variable, fallback: T, values: readonly T[]) => {
    const allowed = values.length === 2 ? values.join(' or ') : `one of ${values.join(', ')}`
    return read(name, fallback, allowed, text => values.find(value => value === text) ?? INVALID)
  }
  const integer = (name: Variable, fallback: number, min: number, max: number) =>
    read(name, fallback, `an integer from ${min} to ${max}`, text => {
      const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
      return value >= min && value <= max ? value : INVALID
    })

  const list = (name: Variable, allowed: string, isItem: (text: string) => boolean) =>
    read<readonly string[]>(name, [], allowed, text => {
      const items = text.split(',').map(item => item.trim())
      return items.every(isItem) ? items : INVALID
    })

  return {
    host: read('HOST', '127.0.0.1', 'a host name or address', text => (/^[\w.:%-]+$/.test(text) ? text : INVALID)),
    /** 0 selects a free port. */
    port: integer('PORT', 8080, 0, 65_535),
    logLevel: oneOf('LOG_LEVEL', 'info', ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    seed: read('SANDBOX_SEED', randomBytes(8).toString('hex'), 'at most 256 printable ASCII characters', text =>
      /^[\x20-\x7e]{1,256}$/.test(text) ? text : INVALID,
    ),
    /** False: the seed is random. */
    isSeedGiven: Boolean(environment.SANDBOX_SEED),
    /** The instant at which the clocks of all tenants start frozen. If undefined, they run with the real time. */
    frozenAt: read<Instant | undefined>(
      'SANDBOX_CLOCK',
      undefined,
      'real, or an instant as YYYY-MM-DDThh:mm:ssZ',
      text => (text === 'real' ? undefined : (parseInstant(text) ?? INVALID)),
    ),
    /** The fixture of the demo client. */
    fixture: environment.SANDBOX_FIXTURE || 'demo',
    /** A folder with additional fixtures. */
    fixtures: environment.SANDBOX_FIXTURES || undefined,
    clients: read<readonly ClientEntry[]>('SANDBOX_CLIENTS', [], CLIENTS_FORM, readClients),
    openRegistration: oneOf('SANDBOX_OPEN_REGISTRATION', 'true', ['true', 'false']) === 'true',
    maxTenants: integer('SANDBOX_MAX_TENANTS', 2000, 1, 1_000_000),
    /** The maximum number of records of a tenant, of all kinds together. */
    maxRecords: integer('SANDBOX_MAX_RECORDS', DEFAULT_BOUNDS.maxRecords, 1, 10_000_000),
    /** In seconds. */
    tokenLifetime: integer('SANDBOX_TOKEN_TTL', 3600, 1, 315_360_000),
    /** The base URL of payout links without a trailing slash. If undefined, the URL of the server. */
    publicUrl: read<string | undefined>(
      'SANDBOX_PUBLIC_URL',
      undefined,
      'an http or https URL without query and user',
      text => (isPublicUrl(text) ? text.replace(/\/+$/, '') : INVALID),
    ),
    /** Host names of the server in addition to local names: names, or `*.` and a name for its subdomains. */
    allowedHosts: list(
      'SANDBOX_ALLOWED_HOSTS',
      'host names without ports, separated by commas, such as sandbox.example.com or *.example.com',
      isHostPattern,
    ),
    /** The origins whose web pages may call `/api/v1`. The port may be `*`. */
    corsOrigins: list(
      'SANDBOX_CORS_ORIGINS',
      'origins, separated by commas, such as https://shop.example or http://localhost:*',
      isOriginPattern,
    ),
    /** The bearer token of the control plane. If undefined, no authentication. */
    adminToken: readAdminToken(environment),
    /** The maximum number of requests in the log of a tenant. */
    requestLogEntries: integer('SANDBOX_REQUEST_LOG_ENTRIES', DEFAULT_BOUNDS.requestLogEntries, 0, 1_000_000),
    /** The maximum size of all request logs in bytes. */
    requestLogBytes: integer('SANDBOX_REQUEST_LOG_BYTES', DEFAULT_BOUNDS.requestLogBytes, 0, MAX_BYTES),
    /** The maximum size of a state document in bytes. */
    stateBytes: integer('SANDBOX_STATE_BYTES', DEFAULT_BOUNDS.stateBytes, 1, MAX_DOCUMENT_BYTES),
    /** The folder that stores tenants across restarts. If undefined, memory only. */
    data: read<string | undefined>('SANDBOX_DATA', undefined, 'a folder', text =>
      text.replace(/^~(?=\/|$)/, homedir()),
    ),
    /** Whether each commit of SQLite waits until it is on the disk. */
    sqliteSynchronous: oneOf('SANDBOX_SQLITE_SYNCHRONOUS', 'full', ['full', 'normal']),
    /** The URL of the Postgres database that several servers share, or undefined if there is none. It can contain a password. */
    databaseUrl: readDatabaseUrl(environment),
  }
}

const MAX_BYTES = 8 * 1024 ** 3
/** A state document is one string. */
const MAX_DOCUMENT_BYTES = 256 * 1024 ** 2

/** Reads the admin token. The error message does not contain the secret. @throws ConfigError */
export function readAdminToken({ SANDBOX_ADMIN_TOKEN: token }: Environment): string | undefined {
  if (token === undefined || token === '') return undefined
  if (/^[\x21-\x7e]{1,1000}$/.test(token)) return token
  throw new ConfigError('SANDBOX_ADMIN_TOKEN is not allowed: give at most 1000 printable ASCII characters, no spaces.')
}

/** Reads the URL of the database. The error message does not contain it, since it can have a password. @throws ConfigError */
function readDatabaseUrl(environment: Environment): string | undefined {
  const { SANDBOX_DATABASE_URL: url, SANDBOX_DATA: data, SANDBOX_SEED: seed } = environment
  if (url === undefined || url === '') return undefined
  if (!/^postgres(ql)?:\/\//.test(url) || !URL.canParse(url)) {
    throw new ConfigError(
      'SANDBOX_DATABASE_URL is not allowed: give a URL such as postgres://user:password@host/database.',
    )
  }
  if (data) throw new ConfigError('SANDBOX_DATABASE_URL is not allowed with SANDBOX_DATA: give one of both.')
  if (!seed) throw new ConfigError('SANDBOX_DATABASE_URL needs SANDBOX_SEED: all servers must have the same seed.')
  return url
}

// The log and payout links show it, so it has no password.
const isPublicUrl = (text: string) => /^https?:\/\/[^/?#@\s]+(\/[^?#\s]*)?$/.test(text) && URL.canParse(text)

const CLIENTS_FORM =
  'a JSON file [{"clientId", "clientSecret", "scope"?, "fixture"?, "allowedOrigins"?, "senderName"?}] of non-empty strings, ' +
  'no clientId twice, senderName of at most 140 characters'

function readClients(path: string): readonly ClientEntry[] | typeof INVALID {
  let value: unknown
  try {
    value = JSON.parse(textOf(readFileSync(path)))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== undefined) throw new ConfigError(`SANDBOX_CLIENTS=${quote(path)} cannot be read: ${code}.`)
    return INVALID
  }
  if (!Array.isArray(value) || !value.every(isClientEntry)) return INVALID
  const isDistinct = new Set(value.map(({ clientId }) => clientId)).size === value.length
  return isDistinct ? value : INVALID
}

const isText = (value: unknown) => typeof value === 'string' && value !== ''

/** Checks that a client id is valid in a URL and in every database, and fits on one line. */
const isClientId = (value: unknown) =>
  typeof value === 'string' &&
  value.length <= LONGEST_CLIENT_ID &&
  /^\S[^\p{Cc}]*$/u.test(value) &&
  value.isWellFormed()

function isClientEntry(value: unknown): value is ClientEntry {
  if (value === null || typeof value !== 'object') return false
  const {
    clientId,
    clientSecret,
    scope = 'any',
    fixture = 'any',
    allowedOrigins = [],
    senderName = 'any',
  } = value as Record<string, unknown>
  return (
    isClientId(clientId) &&
    [clientSecret, scope, fixture, senderName].every(isText) &&
    [...(senderName as string)].length <= MAX_ACCOUNT_HOLDER_NAME &&
    nameFlaw(senderName as string) === undefined &&
    Array.isArray(allowedOrigins) &&
    allowedOrigins.every(origin => typeof origin === 'string' && isOriginPattern(origin))
  )
}
