import { connectSandbox } from '../client/index.js'
import type { Options, Output } from '../command-line.js'
import { COMMON, parseLine, readServer } from '../command-line.js'
import type { Environment } from '../config.js'
import { ConfigError } from '../config.js'
import { formatInstant } from '../core/time/time.js'
import { NAME } from '../package.js'
import type { Capture } from './har.js'
import { parseJson, readHar } from './har.js'
import type { Result } from './replay.js'
import { replay } from './replay.js'
import { clientsOf } from './session.js'
import { createMemoryTarget, createRemoteTarget } from './target.js'

const OPTIONS = {
  host: { type: 'string', help: 'Takes only the requests to this host.' },
  to: { type: 'string', help: 'Sends the requests to this server, such as http://127.0.0.1:8080.' },
  client: { type: 'string', help: 'The client of that server, or SANDBOX_CLIENT. Default: sandbox-client.' },
  'admin-token': COMMON['admin-token'],
  json: { type: 'boolean', help: 'Prints JSON.' },
  help: COMMON.help,
} as const satisfies Options

const HELP = `Usage: ${NAME} replay FILE.har [options]

Sends the requests of a HAR file to a sandbox in memory, and compares its answers with the file.
With --to, the requests go to a running server, whose client then has the records.

${Object.entries(OPTIONS)
  .map(([name, { help }]) => `  --${name.padEnd(14)}${help}`)
  .join('\n')}

Exit codes: 0 every answer is the same, 1 findings, 2 the file or the command line cannot be used.
`

/** The lifetime of tokens of a sandbox, in seconds, if the file is not the log of one. */
const TOKEN_LIFETIME = 3600

/** Runs `payments-sandbox replay`. Returns its exit code. @throws ConfigError */
export async function runReplay(
  args: readonly string[],
  environment: Environment,
  { stdout }: Output,
): Promise<number> {
  const { values, positionals } = parseLine(args, OPTIONS)
  if (values.help) {
    stdout.write(HELP)
    return 0
  }
  const [file, ...others] = positionals
  if (file === undefined || others.length > 0) throw new ConfigError(`give one file: ${NAME} replay FILE.har`)
  const { to, client, host, json } = values
  if (to === undefined && client !== undefined) throw new ConfigError('--client goes with --to.')
  const capture = read(file, host?.toString())
  const server = to === undefined ? undefined : readServer({ ...values, url: to }, environment)
  const result = await (server === undefined ? inMemory(capture) : inServer(capture, server))
  stdout.write(json ? toJson(capture, result) : toText(file, capture, result))
  return result.findings.length > 0 ? 1 : 0
}

/** Reads a file. Refuses one without requests of the interface, and a run that requests do not repeat. @throws ConfigError */
function read(file: string, host: string | undefined): Capture {
  const capture = readHar(file, host)
  const { entries, skipped, run } = capture
  if (run !== undefined && run.steeredBy.length > 0)
    throw new ConfigError(
      `${file} cannot be replayed: other calls have steered its run, and it does not contain them: ${run.steeredBy.join(', ')}.`,
    )
  if (entries.length === 0) throw new ConfigError(`${file} has no request of the interface.${skippedText(skipped)}`)
  return capture
}

async function inMemory({ entries, run }: Capture): Promise<Result> {
  // A run shows the lifetime that its sandbox has.
  const token = run && entries.find(({ clientId, status }) => clientId !== undefined && status === 200)
  const lifetime = parseJson(token?.answer)?.expires_in ?? TOKEN_LIFETIME
  const { target, close } = createMemoryTarget(clientsOf(entries), entries[0]?.at ?? 0, lifetime)
  try {
    return await replay(entries, target)
  } finally {
    await close()
  }
}

async function inServer({ entries }: Capture, server: ReturnType<typeof readServer>): Promise<Result> {
  if (clientsOf(entries).length > 1) throw new ConfigError('the file has several clients: --to takes one.')
  const { url, clientId, clientSecret, adminToken } = server
  const known = { ...(clientSecret && { clientSecret }), ...(adminToken && { adminToken }) }
  const sandbox = await connectSandbox({ url, clientId, ...known }).catch(({ message }: Error) => {
    throw new ConfigError(message)
  })
  const { clock, ...state } = await sandbox.state()
  if (state.sequence > 0) throw new ConfigError(`the client ${clientId} has records: give another client.`)
  await sandbox.restore({ ...state, clock: { now: formatInstant(entries[0]?.at ?? 0), mode: 'frozen', rate: 1 } })
  try {
    return await replay(entries, createRemoteTarget(sandbox, adminToken), sandbox)
  } finally {
    if (clock.mode === 'running') await sandbox.clock.resume()
    await sandbox.close()
  }
}

const skippedText = (skipped: Capture['skipped']) =>
  Object.entries(skipped)
    .map(([reason, count]) => ` Skipped ${count} ${reason}.`)
    .join('')

function shown(value: unknown): string {
  const text = value === null ? '(none)' : JSON.stringify(value)
  return text.length > 300 ? `${text.slice(0, 300)}…` : text
}

function toText(file: string, { entries, skipped, run }: Capture, { findings, notMade }: Result): string {
  const lines = findings.map(({ entry, operation, path, service, sandbox, fidelity, section, more }) => [
    '',
    `entry ${entry}  ${operation}  ${path}`,
    `  service   ${shown(service)}`,
    `  sandbox   ${shown(sandbox)}`,
    `  ${fidelity}${fidelity === 'assumed' ? ` (decisions §${section})` : ''}${more > 0 ? `, and in ${more} later entries` : ''}`,
  ])
  return [
    `${entries.length} entries of ${file}.${skippedText(skipped)}`,
    ...(run?.isComplete === false ? ['The log has lost some requests of the run.'] : []),
    ...notMade.map(text => `Could not be made: ${text}`),
    findings.length === 0 ? 'Every answer is the same.' : `${findings.length} findings:`,
    ...lines.flat(),
    '',
  ].join('\n')
}

const toJson = ({ entries, skipped }: Capture, { findings, notMade }: Result): string =>
  `${JSON.stringify({ entries: entries.length, skipped, findings, notMade }, null, 2)}\n`
