import { parseArgs } from 'node:util'
import { ConfigError, type Environment, nearestName, readAdminToken } from './config.js'
import { escapeControls } from './core/words.js'

/** Options by name, some with their help. */
export type Options = Readonly<Record<string, { type: 'string' | 'boolean'; short?: string; help?: string }>>
/** The options that are given, by name. */
export type Values = Readonly<Record<string, string | boolean | undefined>>

/** The outputs of a command line. A terminal has a width in columns. */
export interface Output {
  readonly stdout: { readonly columns?: number; write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

/** Returns an output that escapes control characters. In JSON, the escapes mean the same. */
export const withoutControls = ({ stdout, stderr }: Output): Output => ({
  stdout: {
    ...(stdout.columns !== undefined && { columns: stdout.columns }),
    write: text => stdout.write(escapeControls(text)),
  },
  stderr: { write: text => stderr.write(escapeControls(text)) },
})

/** The options of all commands that call a server. */
export const COMMON = {
  url: { type: 'string', help: 'The server, or SANDBOX_URL. Default: http://127.0.0.1:8080.' },
  client: { type: 'string', help: 'The client, or SANDBOX_CLIENT. Default: sandbox-client.' },
  'admin-token': { type: 'string', help: 'Prefer SANDBOX_ADMIN_TOKEN: other users of a machine can see options.' },
  json: { type: 'boolean', help: 'Prints the answer as it is.' },
  help: { type: 'boolean', short: 'h', help: 'Prints this help.' },
} as const satisfies Options

/** Reads the options of all commands, or their variables. An error does not show the value, which can be secret. */
export function readServer(values: Values, environment: Environment) {
  const read = (option: string, variable: string) => String(values[option] ?? '') || environment[variable] || undefined
  const url = read('url', 'SANDBOX_URL') ?? 'http://127.0.0.1:8080'
  if (!/^https?:\/\/[^@?#\s]+$/.test(url) || !URL.canParse(url)) {
    throw new ConfigError('--url or SANDBOX_URL is not allowed: give a URL such as http://127.0.0.1:8080.')
  }
  return {
    url: url.replace(/\/+$/, ''),
    clientId: read('client', 'SANDBOX_CLIENT') ?? 'sandbox-client',
    clientSecret: environment.SANDBOX_CLIENT_SECRET || undefined,
    adminToken: readAdminToken({ SANDBOX_ADMIN_TOKEN: read('admin-token', 'SANDBOX_ADMIN_TOKEN') }),
  }
}

/** Returns the words of a command line before the first unknown option. */
export function leadingWords(args: readonly string[], options: Options): string[] {
  const { tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true })
  const end = tokens.findIndex(token => token.kind === 'option' && !Object.hasOwn(options, token.name))
  return tokens.slice(0, end < 0 ? undefined : end).flatMap(token => (token.kind === 'positional' ? token.value : []))
}

/** Parses a command line. @throws ConfigError, which names the nearest option for an unknown one */
export function parseLine(args: readonly string[], options: Options): { values: Values; positionals: string[] } {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION') throw new ConfigError(message.replaceAll(/\s+/g, ' '))
    const [option] = /(?<=')-[^']*/.exec(message) ?? ['']
    const known = Object.keys(options).map(name => `--${name}`)
    const nearest = nearestName(option, known)
    throw new ConfigError(`unknown option ${option}. Did you mean ${nearest}? Known: ${known.join(', ')}.`)
  }
}
