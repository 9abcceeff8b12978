import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Connection, createConnection, type Request } from '../client/connection.js'
import { SandboxError } from '../client/errors.js'
import { describeExpectation } from '../client/expectation.js'
import type { Evidence, Expectation, Verification } from '../client/types.js'
import { COMMON, leadingWords, type Output, parseLine, readServer, type Values } from '../command-line.js'
import { ConfigError, type Environment, nearestName } from '../config.js'
import { type Command, commands, find } from './catalogue.js'
import { helpOf, helpText, names } from './help.js'
import { optionsOf, readInput } from './input.js'
import { format, formatRow, toLine } from './output.js'

/**
 * Runs a command. Returns the exit code: 0 done, 1 refused or not as expected, 3 no server or its failure.
 * @throws ConfigError for wrong usage
 */
export async function runCommand(args: readonly string[], environment: Environment, output: Output): Promise<number> {
  const print = (lines: readonly string[]) => {
    output.stdout.write(`${lines.join('\n')}\n`)
    return 0
  }
  const words = leadingWords(args, COMMON)
  const [first, second = ''] = words
  const found = findOrRefuse(words)
  const { values, positionals } = parseLine(args, Object.assign({}, ...found.map(command => optionsOf(command, args))))
  if (first === 'help') {
    output.stdout.write(helpText())
    return 0
  }
  if (values.help) return print(found.flatMap(helpOf))
  const given = positionals.slice(found[0]?.name === `${first} ${second}` ? 2 : 1)
  const server = readServer(values, environment)
  try {
    if (first === 'token') {
      const { connectSandbox } = await import('../client/index.js')
      return print([await (await connectSandbox(server)).token()])
    }
    const context = { values, connection: createConnection(server), client: server.clientId, output }
    return await call(await choose(found, given, context), given, context)
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error
    const { code, field, message, status } = error
    const line = values.json ? JSON.stringify({ code, field, message }) : toLine(`${code} ${field ?? '-'} ${message}`)
    output.stderr.write(`${line}\n`)
    return status === null || status >= 500 || code === 'UNEXPECTED_ANSWER' ? 3 : 1
  }
}

/** Returns the commands that the words mean. @throws ConfigError, which names similar commands */
function findOrRefuse(words: readonly string[]): readonly Command[] {
  const [found, [word = '']] = [find(words), words]
  if (found.length > 0) return found
  const similar = commands.map(({ name }) => name).filter(name => name.split(' ').includes(word))
  if (similar.length > 0) throw new ConfigError(`${word} is not one command: give ${similar.join(' or ')}.`)
  const [given, nearest] = [JSON.stringify(word), nearestName(word, names())]
  throw new ConfigError(`unknown command ${given}. Did you mean ${nearest}? See payments-sandbox help.`)
}

type Context = Readonly<{ values: Values; connection: Connection; client: string; output: Output }>

/** Returns the command for the kind of records that has a reference. @throws SandboxError, ConfigError */
async function choose(found: readonly Command[], [reference]: readonly string[], { connection, client }: Context) {
  if (found.length === 1 || reference === undefined) return found[0] as Command
  const having: Command[] = []
  for (const command of found) {
    const path = command.path.replace(/\{.*/, () => encodeURIComponent(reference))
    const answer = await connection
      .call({ method: 'GET', path, query: { client } })
      .catch((error: SandboxError) => error)
    const error = answer instanceof SandboxError ? answer : undefined
    // This kind has no such reference, or allows none. Another 400 is of a bill that several regions have.
    if (command.path.includes(`{${error?.field}}`)) continue
    if (error !== undefined && error.status !== 400) throw error
    having.push(command)
  }
  const kinds = found.map(({ name }) => name).join(', ')
  if (having.length > 1) throw new ConfigError(`several kinds of records have ${reference}: give one of ${kinds}.`)
  if (having[0] !== undefined) return having[0]
  throw new SandboxError(`None of these has ${reference}: ${kinds}.`, { code: 'RECORD_NOT_FOUND', status: 404 })
}

/** Makes the call of a command. Returns the exit code. @throws SandboxError, ConfigError */
async function call(command: Command, given: readonly string[], context: Context): Promise<number> {
  const { values, connection, client, output } = context
  const { request, file } = await readInput(command, given, values)
  // `coverage --clients` replaces the client.
  const isNamed = command.takesClient && (values.client !== undefined || request.query.clients === undefined)
  const query = { ...(isNamed && { client }), ...request.query }
  const write = (text: string) => output.stdout.write(`${text}\n`)
  if (values.follow) {
    for await (const item of follow(connection, { ...request, query }))
      write(values.json ? JSON.stringify(item) : formatRow(item))
  }
  let code = 0
  // A file can have several expectations.
  for (const body of command.name === 'verify' ? [request.body ?? {}].flat() : [request.body]) {
    const { text, value } = await connection.answer({ ...request, query, body })
    const isMissed = Object(value).matched === false
    if (command.name === 'evidence' && !values.json) {
      write((value as Evidence).summary.trimEnd())
      if (values.out !== undefined) write(`Written: ${writeEvidence(String(values.out), value as Evidence).join(', ')}`)
    } else if (file !== undefined && file !== '-') writeFileSync(file, text)
    else if (values.json || !isMissed) write(values.json || file ? text : format(value, output.stdout.columns))
    if (!isMissed) continue
    output.stderr.write(`${describeExpectation(body as Expectation, value as Verification)}\n`)
    code = 1
  }
  return code
}

/** Writes evidence to a folder. Returns the paths of the files. */
function writeEvidence(folder: string, evidence: Evidence): string[] {
  const files = { 'summary.txt': evidence.summary, 'evidence.json': `${JSON.stringify(evidence, null, 2)}\n` }
  mkdirSync(folder, { recursive: true })
  return Object.entries(files).map(([name, text]) => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  })
}

/** The longest wait of a call, in seconds. */
const WAIT_SECONDS = 60

interface Page {
  readonly data: readonly { readonly seq: number }[]
  readonly last: number
}

/** Yields the items of a list after a number, past and new, without an end. Continues from 1 after a reset of the client. */
async function* follow(connection: Connection, { query, ...request }: Request) {
  let after = Number(query?.after ?? 0)
  for (let known = 0; ; ) {
    const next = { after, wait: WAIT_SECONDS, before: undefined, limit: undefined, format: undefined }
    const { data, last } = await connection.call<Page>({ ...request, query: { ...query, ...next } })
    yield* data
    // After a reset, numbers start again at 1.
    after = data.at(-1)?.seq ?? (last < known ? 0 : Math.max(after, last))
    known = last
  }
}
