import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import type { ApiError } from '../../core/errors.js'
import { ownMember } from '../../core/own-member.js'
import { check } from '../../http/validation.js'
import type { Fixtures } from '../../tenants/fixtures.js'
import type { Identity } from '../../tenants/registry.js'
import type { TenantSnapshot } from '../../tenants/snapshot.js'
import type { Scenarios } from '../scenarios/files.js'
import type { RecordedAnswer, RecordedRequest } from './file-format.js'
import { Recording, RecordingHead } from './file-format.js'
import type { BuildReplayServer } from './replay.js'
import { startReplay } from './replay.js'

/** A recording that cannot be replayed, or a request number that it does not have. The message is one line. */
export class ReplayError extends Error {}

export interface ReplayFileOptions {
  /** The path of a file of `GET /_sandbox/recording`. */
  readonly file: string
  /** The number of the request to stop before, as text; undefined: replay all. */
  readonly until: string | undefined
  readonly fixtures: Fixtures
  readonly scenarios: Scenarios
  readonly buildServer: BuildReplayServer
  /** Prints a line. */
  print(line: string): void
}

/** The result of a replay that stopped before a request: a tenant to serve, whose clock is frozen. */
export interface StoppedReplay {
  readonly recording: Recording
  readonly identity: Identity
  readonly snapshot: TenantSnapshot
  /** The address of payout links for the request, so that its answer is the same. */
  readonly publicUrl: string
}

/**
 * Replays a recording, and prints the first answer that differs.
 * Returns `differs`, `same`, or the stopped replay where `until` is given. Throws ReplayError.
 */
export async function replayFile(options: ReplayFileOptions): Promise<'differs' | 'same' | StoppedReplay> {
  const { file, until, fixtures, scenarios, buildServer, print } = options
  const recording = await orReplayError(file, () => readRecording(file))
  const { clientId, requests, start, seed, publicUrl, tokenLifetime, complete } = recording
  const stop = until === undefined ? requests.length : parseUntil(until, requests.length)
  const identity = { clientId, ...recording.identity, secretDigest: null }

  const replay = await orReplayError(file, () =>
    startReplay(buildServer, { seed, publicUrl, tokenLifetime, identity, start, fixtures, scenarios }),
  )
  for (const { answer, n, ...request } of requests.slice(0, stop)) {
    const replayed = await replay.apply(request)
    if (answer === null || isSame(replayed, answer)) continue
    print(`request ${n} of ${requests.length} is answered otherwise: ${describe(request)}`)
    print(`  recorded ${show(answer)}`)
    print(`  replayed ${show(replayed)}`)
    return 'differs'
  }
  if (until === undefined) {
    const bound = complete ? '' : '; the recording stopped at its bound (SANDBOX_RECORDING_BYTES)'
    print(`${clientId}: ${requests.length} requests, every answer is the same${bound}`)
    return 'same'
  }
  const next = requests[stop]
  print(`${clientId}: stopped before request ${stop + 1} of ${requests.length}${next ? `: ${describe(next)}` : ''}`)
  const changed = requests.slice(0, stop + 1).findLast(request => request.publicUrl !== undefined)
  const address = changed?.publicUrl ?? publicUrl
  return { recording, identity, snapshot: frozen(replay.snapshot(), next), publicUrl: address }
}

/** Returns a state in which no time passes: neither that of the clock nor, for faults, the real one. */
function frozen(snapshot: TenantSnapshot, next: RecordedRequest | undefined): TenantSnapshot {
  const realNow = next === undefined ? Date.now() : Date.parse(next.receivedAt)
  return {
    ...snapshot,
    clock: { ...snapshot.clock, mode: 'frozen' },
    faults: snapshot.faults.map(({ expiresAt, ...fault }) =>
      expiresAt === undefined || expiresAt > realNow ? fault : { ...fault, expiresAt },
    ),
  }
}

function describe({ operation, params, query, at, region, body }: RecordedRequest): string {
  const named = operation.replace(/\{(\w+)\}/g, (_, name: string) => ownMember(params, name) ?? '')
  const parts = [
    Object.keys(query).length > 0 && `with query ${JSON.stringify(query)}`,
    region !== undefined && `in ${region}`,
    `at ${at}`,
    body !== undefined && `with ${JSON.stringify(body)}`,
  ]
  return [named, ...parts.filter(part => part !== false)].join(' ')
}

/** Whether a replay, which sends JSON, answers as recorded. A page answers a form with 303, and JSON with its state. */
const isSame = (replayed: RecordedAnswer, recorded: RecordedAnswer) =>
  recorded.status === 303 ? replayed.status === 200 : isDeepStrictEqual(replayed, recorded)

const show = ({ status, body, sha256 }: RecordedAnswer) => `${status} ${body ?? `with a body of SHA-256 ${sha256}`}`

function readRecording(file: string): Recording {
  const recording: unknown = JSON.parse(readFileSync(file, 'utf8'))
  check(RecordingHead, recording, 'INVALID_FIELD')
  check(Recording, recording, 'INVALID_FIELD')
  return recording as Recording
}

/** Throws ReplayError in one line that names the file and the fault. */
async function orReplayError<T>(file: string, step: () => T | Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (error) {
    const { field, message } = error as ApiError
    const at = field ? `${field}: ` : ''
    throw new ReplayError(`${file} cannot be replayed: ${at}${message}`.replaceAll(/\s+/g, ' '))
  }
}

function parseUntil(text: string, count: number): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (number >= 1 && number <= count + 1) return number - 1
  throw new ReplayError(
    `--until ${JSON.stringify(text.slice(0, 80))} is not allowed: give the number of a request, from 1 to ${count + 1}.`,
  )
}
