import type { Output } from '../command-line.js'
import { COMMON, parseLine, withoutControls } from '../command-line.js'
import { ConfigError } from '../config.js'
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

const flag = { type: 'boolean' } as const
const HOST = { type: 'string' } as const
const OPTIONS = { host: HOST, all: flag, names: flag, json: flag, help: COMMON.help } as const

/** Runs `payments-sandbox compare FILE.har`. Returns the exit code: 0, 1 (contradictions), 2 (usage, file, nothing to compare). */
export async function runCompare(args: readonly string[], given: Output): Promise<number> {
  const { stdout, stderr } = withoutControls(given)
  try {
    const { positionals, values } = parseLine(args, OPTIONS)
    if (values.help) {
      given.stdout.write(HELP)
      return 0
    }
    const comparison = await compare(readHar(fileOf(positionals, 'compare')), values.host as string | undefined)
    // Such a file would pass as traffic without a contradiction.
    if (comparison.entries.compared === 0) throw new HarError(entriesOf(comparison).join(' '))
    const [all, names] = [values.all === true, values.names === true]
    stdout.write(values.json ? toJson(comparison, names) : toText(comparison, { all, names }))
    return isDifferent(comparison) ? 1 : 0
  } catch (error) {
    if (!(error instanceof HarError || error instanceof ConfigError)) throw error
    stderr.write(`${NAME}: ${error.message}\n`)
    return 2
  }
}

/** Returns the only positional argument of a command. @throws HarError */
export function fileOf([file, another]: readonly string[], command: string): string {
  if (file === undefined || another !== undefined)
    throw new HarError(`${command} takes one file. See ${NAME} ${command} --help`)
  return file
}
