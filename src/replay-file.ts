import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import type { Config } from './config.js'
import { ConfigError } from './config.js'
import { quote, type SandboxError } from './core/errors.js'
import { loadFixtures } from './fixtures.js'
import { assumed, labelled, Moment, OneOf } from './http/schemas.js'
import { check, warmUp } from './http/validation.js'
import { OWN_FIXTURES } from './package.js'
import type { AnswerLine, RequestLine } from './recording.js'
import { RECORDING_FORMAT, RECORDING_VERSION } from './recording.js'
import { startReplay } from './replay.js'
import { State } from './state.js'

const Answer = Type.Object({
  status: Type.Integer(),
  body: Type.Optional(Type.String()),
  sha256: Type.Optional(Type.String()),
})

/** What tells a recording from another file, or from one of another release. */
const RecordingHead = labelled(assumed, {
  format: Type.Literal(RECORDING_FORMAT, { 'x-expected': RECORDING_FORMAT }),
  version: Type.Literal(RECORDING_VERSION, { 'x-expected': String(RECORDING_VERSION) }),
})

/** The file of `GET /_sandbox/recording`, as far as a replay needs it. */
const RecordingFile = labelled(assumed, {
  clientId: Type.String({ minLength: 1 }),
  seed: Type.String(),
  publicUrl: Type.String(),
  tokenLifetime: Type.Integer({ minimum: 1 }),
  identity: Type.Object({
    resets: Type.Integer({ minimum: 0 }),
    fixture: Type.String(),
    scope: Type.String(),
    allowedOrigins: Type.Array(Type.String()),
  }),
  dropped: Type.Integer({ minimum: 0 }),
  start: State,
  requests: Type.Array(
    Type.Object({
      at: Moment,
      receivedAt: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' }),
      method: OneOf('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'),
      url: Type.String({ pattern: '^/' }),
      headers: Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties: { type: 'string' } }),
      body: Type.Optional(Type.String()),
      bodyBase64: Type.Optional(Type.String()),
      answer: Type.Unsafe<AnswerLine | null>({ ...Answer, type: ['object', 'null'] }),
    }),
  ),
})
type RecordingFile = Static<typeof RecordingFile>

/**
 * `payments-sandbox replay FILE [--until N]`: goes through a recording once more, and tells the first answer that is
 * another than it was (exit code 1). With `until`, it stops before that request and serves the tenant, its clock
 * frozen; the first token request sets its secret.
 * @throws ConfigError
 */
export async function replayFile(config: Config, file: string, until: string | undefined): Promise<void> {
  const recording = await readRecording(file)
  const { clientId, requests, start, seed, publicUrl, tokenLifetime, dropped } = recording
  const stop = until === undefined ? requests.length : readUntil(until, requests.length)
  const identity = { clientId, ...recording.identity }
  const fixtures = loadFixtures(OWN_FIXTURES, ...(config.fixtures === undefined ? [] : [config.fixtures]))

  const replay = await orWrongFile(file, () =>
    startReplay({ seed, publicUrl, tokenLifetime, identity, start, fixtures }),
  )
  try {
    for (const [at, { answer, ...request }] of requests.slice(0, stop).entries()) {
      const replayed = await replay.apply(request)
      if (answer === null || isDeepStrictEqual(replayed, answer)) continue
      tell(`request ${at + 1} of ${requests.length} is answered otherwise: ${describe(request)}`)
      tell(`  recorded ${show(answer)}`)
      tell(`  replayed ${show(replayed)}`)
      process.exitCode = 1
      return
    }
  } finally {
    await replay.close()
  }
  if (until === undefined) {
    const before = dropped > 0 ? `; ${dropped} before them are not in the recording` : ''
    tell(`${clientId}: ${requests.length} requests, every answer is the same${before}`)
    return
  }

  const next = requests[stop]
  tell(`${clientId}: stopped before request ${stop + 1} of ${requests.length}${next ? `: ${describe(next)}` : ''}`)
  const { serve } = await import('./serve.js')
  const served: Config = {
    ...config,
    seed,
    tokenLifetime,
    publicUrl: config.publicUrl ?? publicUrl,
    // This tenant must not get into the way of those that are kept.
    data: undefined,
    maxTenants: Math.max(config.maxTenants, config.clients.length + 2),
  }
  await serve(served, sandbox => {
    sandbox.adopt({ ...identity, secretDigest: null }, stoppedAt(replay.state(), next), Date.now())
  })
}

/** A state in which no time passes: neither that of the clock nor, for faults, the real one. */
function stoppedAt(state: State, next: RequestLine | undefined): State {
  const realNow = next === undefined ? Date.now() : Date.parse(next.receivedAt)
  return {
    ...state,
    clock: { ...state.clock, mode: 'frozen' },
    faults: state.faults.map(({ expiresAt, ...fault }) =>
      expiresAt === undefined || expiresAt > realNow ? fault : { ...fault, expiresAt },
    ),
  }
}

const tell = (text: string) => process.stdout.write(`${text}\n`)

function describe({ method, url, at, headers, body }: RequestLine): string {
  const region = headers['x-region'] === undefined ? '' : ` in ${headers['x-region']}`
  return `${method} ${url}${region} at ${at}${body === undefined || body === '' ? '' : ` with ${body}`}`
}

const show = ({ status, body, sha256 }: AnswerLine) => `${status} ${body ?? `with a body of SHA-256 ${sha256}`}`

async function readRecording(file: string): Promise<RecordingFile> {
  await warmUp()
  return orWrongFile(file, () => {
    const recording: unknown = JSON.parse(readFileSync(file, 'utf8'))
    check(RecordingHead, recording, 'INVALID_FIELD')
    check(RecordingFile, recording, 'INVALID_FIELD')
    return recording as RecordingFile
  })
}

/** @throws ConfigError in one line that names the file and what is wrong with it */
async function orWrongFile<T>(file: string, step: () => T | Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (error) {
    const { field, message } = error as SandboxError
    const at = field ? `${field}: ` : ''
    throw new ConfigError(`${file} cannot be replayed: ${at}${message}`.replaceAll(/\s+/g, ' '))
  }
}

function readUntil(text: string, count: number): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (number >= 1 && number <= count + 1) return number - 1
  throw new ConfigError(`--until ${quote(text)} is not allowed: give the number of a request, from 1 to ${count + 1}.`)
}
