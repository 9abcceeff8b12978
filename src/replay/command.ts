import { connectSandbox } from '../client/index.js'
import type { Options, Output } from '../command-line.js'
import { COMMON, parseLine, readServer } from '../command-line.js'
import type { Environment } from '../config.js'
import { ConfigError } from '../config.js'
import { formatInstant } from '../core/time/time.js'
import { maskJson } from '../http/masking.js'
import { NAME } from '../package.js'
import type { Capture } from './har.js'
import { parseJson, readHar } from './har.js'
import type { Result } from './replay.js'
import { replay } from './replay.js'
import { clientsOf } from './session.js'
import type { Client, Target } from './target.js'
import { contractOf, control, createMemoryTarget, createRemoteTarget } from './target.js'

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
  if (values.to === undefined && values.client !== undefined) throw new ConfigError('--client goes with --to.')
  const capture = read(file, values.host as string | undefined)
  const result =
    values.to === undefined
      ? await inMemory(capture)
      : await inServer(capture, { ...values, url: values.to }, environment)
  stdout.write(values.json ? toJson(capture, result) : toText(file, capture, result))
  return result.findings.length > 0 ? 1 : 0
}

/** Reads a file. Refuses one without requests of the interface, and a run that requests do not repeat. @throws ConfigError */
function read(file: string, host: string | undefined): Capture {
  const capture = readHar(file, host)
  const { entries, skipped, run } = capture
  if (run !== undefined && run.steeredBy.length > 0)
    throw new ConfigError(
      `other calls have steered the run of ${file}, which its requests do not repeat: ${run.steeredBy.join(', ')}.`,
    )
  if (entries.length === 0) throw new ConfigError(`${file} has no request of the interface.${skippedText(skipped)}`)
  return capture
}

async function inMemory({ entries, run }: Capture): Promise<Result> {
  const [first] = entries.flatMap(({ credentials, answer, status }) =>
    credentials && status === 200 ? [parseJson(answer)] : [],
  )
  const lifetime = run === undefined ? undefined : (first as { expires_in?: number } | undefined)?.expires_in
  const target = createMemoryTarget(clientsOf(entries), entries[0]?.at ?? 0, lifetime ?? TOKEN_LIFETIME)
  try {
    return await replay(entries, target, await contractOf(target))
  } finally {
    await target.close()
  }
}

async function inServer({ entries }: Capture, values: Parameters<typeof readServer>[0], environment: Environment) {
  const { url, clientId, clientSecret, adminToken } = readServer(values, environment)
  if (clientsOf(entries).length > 1) throw new ConfigError('the file has several clients: --to takes one.')
  const sandbox = await connectSandbox({
    url,
    clientId,
    ...(clientSecret !== undefined && { clientSecret }),
    ...(adminToken !== undefined && { adminToken }),
  }).catch(error => {
    throw new ConfigError((error as Error).message)
  })
  const target = createRemoteTarget(url, clientId, adminToken)
  const isRunning = await setClock(target, sandbox, entries[0]?.at ?? 0)
  try {
    return await replay(entries, target, await contractOf(target), sandbox)
  } finally {
    if (isRunning) await sandbox.clock.resume()
    await sandbox.close()
  }
}

/** Stops the clock of a client at the start of the file, or before it. Returns whether it was running. @throws ConfigError */
async function setClock(target: Target, { clientId }: Client, start: number): Promise<boolean> {
  const { body: state } = await target.send(control('GET', '/state', clientId))
  const { now, mode } = state.clock
  const at = formatInstant(start)
  if (at < now && state.sequence > 0)
    throw new ConfigError(
      `the client ${clientId} has records, and its clock is at ${now}, after the start of the file at ${at}: give another client.`,
    )
  state.clock = { now: at < now ? at : now, mode: 'frozen', rate: 1 }
  await target.send(control('PUT', '/state', clientId, state))
  return mode === 'running'
}

const skippedText = (skipped: Capture['skipped']) =>
  Object.entries(skipped)
    .map(([reason, count]) => ` Skipped ${count} ${reason}.`)
    .join('')

/** Masks a value by the names of its members, and by its own. */
const masked = (value: unknown, path: string): unknown => {
  const name = path.split('.').at(-1) as string
  return (maskJson({ [name]: value }) as Record<string, unknown>)[name]
}

const shown = (value: unknown, path: string) => {
  const text = JSON.stringify(masked(value, path)) ?? '(none)'
  return text.length > 300 ? `${text.slice(0, 300)}…` : text
}

function toText(file: string, { entries, skipped, run }: Capture, { findings, notMade }: Result): string {
  const lines = findings.map(({ entry, operation, path, service, sandbox, fidelity, section, more }) => [
    '',
    `entry ${entry}  ${operation}  ${path}`,
    `  service   ${shown(service, path)}`,
    `  sandbox   ${shown(sandbox, path)}`,
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

function toJson({ entries, skipped }: Capture, { findings, notMade }: Result): string {
  const all = findings.map(({ service, sandbox, ...rest }) => ({
    ...rest,
    service: masked(service ?? null, rest.path),
    sandbox: masked(sandbox ?? null, rest.path),
  }))
  return `${JSON.stringify({ entries: entries.length, skipped, findings: all, notMade }, null, 2)}\n`
}
