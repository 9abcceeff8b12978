import { createConnection } from '../client/connection.js'
import { SandboxError } from '../client/errors.js'
import type { Output } from '../command-line.js'
import { COMMON, parseLine, readServer, withoutControls } from '../command-line.js'
import type { Environment } from '../config.js'
import { ConfigError } from '../config.js'
import { NAME } from '../package.js'
import { fileOf } from './command.js'
import { compare } from './compare.js'
import { HarError, readHar } from './har.js'
import type { Captured } from './state.js'
import { recordsOf, toFixture, toState } from './state.js'

const HELP = `Usage: ${NAME} import FILE.har [--client NAME] [--host HOST] [--mask]
       ${NAME} import FILE.har --fixture | --state [--host HOST] [--mask]

Brings the records of captured traffic into a client of a running server. They
replace its state, and its clock goes to the end of the capture.

  --client NAME      the client, or SANDBOX_CLIENT. Default: sandbox-client.
                     One that is unknown is registered with the secret
                     SANDBOX_CLIENT_SECRET. Default: secret.
  --url URL          the server, or SANDBOX_URL. Default: http://127.0.0.1:8080
  --admin-token TEXT prefer SANDBOX_ADMIN_TOKEN
  --fixture          prints a fixture, and calls no server
  --state            prints a state document, which the console loads, too
  --mask             replaces names, account numbers, addresses and e-mail
                     addresses by made-up ones, the same by the same
  --host HOST        only requests to this host, such as api.example.com:8443
  --json             prints the numbers of records as JSON

Exit codes: 1 refused by the server, 2 wrong usage or a file that cannot be
read, 3 no server. Secrets and tokens are not read. See docs/compare.md.
`

const flag = { type: 'boolean' } as const
const OPTIONS = { ...COMMON, fixture: flag, state: flag, mask: flag, host: { type: 'string' } } as const

/** Runs `payments-sandbox import FILE.har`. Returns the exit code: 0, 1 (refused), 2 (usage, file), 3 (no server). */
export async function runImport(args: readonly string[], environment: Environment, given: Output): Promise<number> {
  const output = withoutControls(given)
  try {
    const { values, positionals } = parseLine(args, OPTIONS)
    if (values.help) {
      given.stdout.write(HELP)
      return 0
    }
    const file = fileOf(positionals, 'import')
    const server = readServer(values, environment)
    const captured = await compare(readHar(file), values.host as string | undefined, found =>
      recordsOf(found, values.mask === true),
    )
    const print = (value: unknown) => output.stdout.write(`${JSON.stringify(value, null, 2)}\n`)
    if (values.fixture) print(toFixture(captured))
    else if (values.state) print(toState(captured, server.clientId))
    else await load(captured, server, values.json === true, output)
    return 0
  } catch (error) {
    if (error instanceof HarError || error instanceof ConfigError) {
      output.stderr.write(`${NAME}: ${error.message}\n`)
      return 2
    }
    if (!(error instanceof SandboxError)) throw error
    output.stderr.write(`${error.code} ${error.field ?? '-'} ${error.message}\n`)
    return error.status === null || error.status >= 500 ? 3 : 1
  }
}

/** Replaces the state of a client by the records. An unknown client is registered first. @throws SandboxError */
async function load(
  captured: Captured,
  server: ReturnType<typeof readServer>,
  isJson: boolean,
  { stdout }: Output,
): Promise<void> {
  const { clientId, clientSecret = 'secret' } = server
  const connection = createConnection(server)
  const put = () =>
    connection.call<{ counts: object }>({
      method: 'PUT',
      path: '/_sandbox/state',
      query: { client: clientId },
      body: toState(captured, clientId),
    })
  try {
    const { counts } = await put().catch(async error => {
      if ((error as SandboxError).code !== 'CLIENT_NOT_FOUND') throw error
      const body = { client_id: clientId, client_secret: clientSecret }
      await connection.call({ method: 'POST', path: '/_sandbox/credentials/verify', body })
      return put()
    })
    const { now } = captured
    if (isJson) stdout.write(`${JSON.stringify({ clientId, now, counts })}\n`)
    else {
      const numbers = Object.entries(counts).map(([kind, count]) => `${kind} ${count}`)
      stdout.write(`${clientId} has the records of the capture: ${numbers.join(', ')}. Its clock is at ${now}.\n`)
    }
  } finally {
    connection.close()
  }
}
