import { parseArgs } from 'node:util'
import { escapeControls } from '../core/words.js'
import { NAME } from '../package.js'
import { compare } from './compare.js'
import { HarError, readHar } from './har.js'
import { entriesOf, isDifferent, toJson, toText } from './report.js'

const HELP = `Usage: ${NAME} compare FILE.har [--host HOST] [--all] [--names] [--json]

Compares traffic that was captured with the real service with the documented
interface and the assumptions of the sandbox. Sends nothing.

  --host HOST  only requests to this host, such as api.example.com:8443
  --all        lists all findings, also the confirmed and those never seen
  --names      shows words of the traffic, such as unknown error codes
  --json       for programs: all findings with their counts

Exit code 1: the traffic breaks a documented statement or refutes an assumption.
2: wrong usage, a file that cannot be read, or one without an entry of the
interface. Without --names, the output has no value of the traffic. See docs/compare.md.
`

/** The outputs of the command. */
interface Output {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

/** Runs `payments-sandbox compare FILE.har`. Returns the exit code: 0, 1 (contradictions), 2 (usage, file, nothing to compare). */
export async function runCompare(args: readonly string[], { stdout, stderr }: Output): Promise<number> {
  try {
    const { positionals, values } = parse(args)
    if (values.help) {
      stdout.write(HELP)
      return 0
    }
    const [file, ...rest] = positionals
    if (file === undefined || rest.length > 0) throw new HarError(`compare takes one file. See ${NAME} compare --help`)
    const comparison = await compare(readHar(file), values.host)
    // Such a file would pass as traffic without a contradiction.
    if (comparison.entries.compared === 0) throw new HarError(entriesOf(comparison).join(' '))
    const { all = false, names = false } = values
    stdout.write(escapeControls(values.json ? toJson(comparison, names) : toText(comparison, { all, names })))
    return isDifferent(comparison) ? 1 : 0
  } catch (error) {
    if (!(error instanceof HarError)) throw error
    stderr.write(escapeControls(`${NAME}: ${error.message}\n`))
    return 2
  }
}

function parse(args: readonly string[]) {
  const flag = { type: 'boolean' } as const
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { host: { type: 'string' }, all: flag, names: flag, json: flag, help: { type: 'boolean', short: 'h' } },
    })
  } catch (error) {
    throw new HarError((error as Error).message.replaceAll(/\s+/g, ' '))
  }
}
