import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request as send } from 'node:http'
import { createInterface } from 'node:readline'
import { MONDAY } from './helper.js'
import { launch, program } from './program.js'
import type { Outgoing, RandomRequest, Transport } from './random-requests.js'

export const PUBLIC_URL = 'http://pay.example'

/** All that a client gets of an answer. */
export interface Received {
  /** Undefined: the connection ended before. */
  readonly status: number | undefined
  /** Names and values in turn, as they came. */
  readonly headers: readonly string[]
  readonly text: string
  /** The reason why the answer is not whole. */
  readonly error?: NodeJS.ErrnoException
}

/** Sends a request to a server that listens. */
export const exchange = (base: string, agent: Agent, { method, url, headers, payload }: Outgoing): Promise<Received> =>
  new Promise(done => {
    let received: Received = { status: undefined, headers: [], text: '' }
    const fail = (error: Error) => done({ ...received, error })
    const request = send(base + url, { method, headers, agent }, response => {
      received = { status: response.statusCode, headers: response.rawHeaders, text: '' }
      response.setEncoding('utf8')
      response.on('data', chunk => {
        received = { ...received, text: received.text + chunk }
      })
      response.on('end', () => done(received))
      response.on('error', fail)
    })
    request.on('error', fail)
    request.end(payload)
  })

/** A server in a process of its own, with a frozen clock, that a test kills. */
export class Server {
  readonly #agent = new Agent({ keepAlive: true })
  readonly #ended: Promise<unknown>
  isKilled = false

  private constructor(
    readonly child: ChildProcess,
    readonly url: string,
  ) {
    this.#ended = once(child, 'exit')
  }

  static async start(settings: Readonly<Record<string, string>>, of = program): Promise<Server> {
    const child = launch(of, [], {
      PORT: '0',
      SANDBOX_SEED: 'test',
      SANDBOX_CLOCK: MONDAY,
      SANDBOX_PUBLIC_URL: PUBLIC_URL,
      ...settings,
    })
    child.stderr.pipe(process.stderr)
    for await (const line of createInterface(child.stdout)) {
      const { url, level, msg } = JSON.parse(line)
      if (level > 30) throw new Error(msg)
      if (url !== undefined) {
        child.stdout.resume()
        return new Server(child, url)
      }
    }
    throw new Error('it has not started')
  }

  /** Rejects when the server is gone before the answer is whole. */
  readonly transport: Transport = async request => {
    const { status, text, error } = await exchange(this.url, this.#agent, request)
    if (error !== undefined) throw error
    return { status: status as number, text }
  }

  async kill() {
    this.isKilled = true
    this.child.kill('SIGKILL')
    await this.#ended
    this.#agent.destroy()
  }
}

/** Whether the answer to a request does not depend on the real time, and no state becomes large. */
export const isTimeless = ({ path, body }: RandomRequest): boolean =>
  !(path === '/_sandbox/faults' && /"ttl"|"delay"/.test(JSON.stringify(body))) &&
  !(path === '/_sandbox/clock' && /running/.test(JSON.stringify(body))) &&
  path !== '/_sandbox/seed'
