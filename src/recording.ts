import { isUtf8 } from 'node:buffer'
import { deflateSync, inflateSync } from 'node:zlib'
import { sha256 } from './core/digests.js'
import type { Instant } from './core/time.js'
import { formatInstant } from './core/time.js'
import { maskForm, maskMultipart, maskTarget, maskTokens } from './http/masking.js'
import type { Identity, Tenant, Watcher } from './sandbox.js'
import type { State } from './state.js'

/**
 * A request that a tenant was changed by, or could have been: what a replay needs of it. It is written as text, and its
 * secrets are masked, by whoever reads the recording: most are never read.
 */
export interface RecordedRequest {
  /** The tenant's time at which it was applied. */
  readonly at: Instant
  /** The real time of that, in milliseconds. */
  readonly receivedAt: number
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly region: string | undefined
  readonly contentType: string | undefined
  readonly body: RecordedBody | null
  /** What the body took when it came, in bytes. */
  readonly bodyBytes: number
  /** What came of it, whether or not it was delivered; null: nothing yet. */
  answer: AnswerLine | null
}

/**
 * What of a body the operation read: so no secret that was put where nobody looks for it is kept, and nothing that a
 * replay needs is missing. The value of a JSON body must not change any more.
 */
export type RecordedBody =
  | { readonly kind: 'json'; readonly value: object }
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'form'; readonly value: Readonly<Record<string, string>> }
  | { readonly kind: 'multipart'; readonly value: Buffer }

/** A recorded request in its file. */
export interface RequestLine {
  /** YYYY-MM-DDThh:mm:ssZ, of the tenant. */
  readonly at: string
  /** The real time, RFC 3339 with milliseconds. */
  readonly receivedAt: string
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** UTF-8 text. */
  readonly body?: string
  /** What is no text. */
  readonly bodyBase64?: string
  /** Where payout links point from here on, if that has changed. */
  readonly publicUrl?: string
}

/** An answer in its file; a long body is known by its digest alone. */
export interface AnswerLine {
  readonly status: number
  readonly body?: string
  readonly sha256?: string
}

export const RECORDING_FORMAT = 'payments-sandbox/recording'
export const RECORDING_VERSION = 1

/** The file of `GET /_sandbox/recording`: all that a replay needs. */
export interface Recording {
  readonly format: typeof RECORDING_FORMAT
  readonly version: typeof RECORDING_VERSION
  /** The release that recorded it. */
  readonly recordedBy: string
  readonly clientId: string
  readonly seed: string
  readonly publicUrl: string
  readonly tokenLifetime: number
  readonly identity: Omit<Identity, 'clientId' | 'secretDigest'>
  /** How many requests came before `start`, and are gone. */
  readonly dropped: number
  /** The state that the first request met. */
  readonly start: State
  readonly requests: readonly (RequestLine & { readonly n: number; readonly answer: AnswerLine | null })[]
}

export const toLine = ({ at, receivedAt, method, url, region, contentType, body }: RecordedRequest): RequestLine => ({
  at: formatInstant(at),
  receivedAt: new Date(receivedAt).toISOString(),
  method,
  url: maskTarget(url),
  headers: {
    ...(region !== undefined && { 'x-region': region }),
    ...(contentType !== undefined && { 'content-type': contentType }),
  },
  ...(body !== null && bodyLine(body, contentType)),
})

function bodyLine(body: RecordedBody, contentType?: string): Pick<RequestLine, 'body' | 'bodyBase64'> {
  if (body.kind === 'text') return { body: body.value }
  if (body.kind === 'json') return { body: JSON.stringify(body.value) }
  if (body.kind === 'form') return { body: maskForm(body.value) }
  const bytes = maskMultipart(body.value, contentType)
  return isText(bytes) ? { body: bytes.toString() } : { bodyBase64: bytes.toString('base64') }
}

/** A file full of zeros is UTF-8, too, but six times as long in JSON. */
const isText = (bytes: Buffer) => isUtf8(bytes) && !bytes.includes(0)

/** Answers of so many bytes at most are kept as they are. */
const LONGEST_ANSWER = 16 * 1024

/** An answer as it is kept. Of a long one, nothing is ever shown, so it need not be masked. */
const toAnswer = (status: number, body: string | Buffer, length = Buffer.byteLength(body)): AnswerLine =>
  length <= LONGEST_ANSWER ? { status, body: body.toString() } : { status, sha256: sha256(body) }

/** An answer as a recording tells of it: tokens are masked. */
const shown = ({ body, ...rest }: AnswerLine): AnswerLine =>
  body === undefined ? rest : { ...rest, body: maskTokens(body) }

export const answerLine = (status: number, body: string): AnswerLine => shown(toAnswer(status, body))

/** A stretch of a recording: the state that it begins with, and the requests since. */
interface Segment {
  readonly start: () => State
  /** What of its bytes the state takes. */
  readonly snapshotBytes: number
  readonly requests: RecordedRequest[]
  bytes: number
}

interface Reel {
  readonly tenant: Tenant
  readonly segments: Segment[]
  bytes: number
  dropped: number
  /** Its state was too large for a snapshot: nothing is recorded any more until the next life. */
  isTooLarge: boolean
}

/** The ordered requests of every tenant since its life began, bounded by bytes for all tenants together. */
export interface Recordings extends Watcher {
  add(tenant: Tenant, request: RecordedRequest): void
  /** Takes in what came of a request. @param body empty: there was none */
  answered(tenant: Tenant, request: RecordedRequest, status: number, body: string | Buffer): void
  /** What a tenant has been through, as far back as it is kept. */
  of(tenant: Tenant): Pick<Recording, 'dropped' | 'start' | 'requests'>
}

/** What a request takes beside its texts, roughly. */
const OVERHEAD = 512
/** What a record with its history takes in a state document, roughly, before it is compressed. */
const RECORD_BYTES = 1024
/**
 * So many stretches fill the bound. A snapshot takes 10 ns for each byte of the state, so the fewer there are, the less of
 * each request is spent on them; the more, the less is lost when the oldest is dropped.
 */
const SEGMENTS = 2

/**
 * When a tenant's stretch is long, the next one begins with a snapshot of its state; when there is no room, the oldest
 * stretch of the tenant that has most is dropped.
 * @param mostBytes of all tenants together; 0: nothing is recorded
 */
export function createRecordings(mostBytes: number): Recordings {
  const reels = new Map<string, Reel>()
  let bytes = 0

  /** Whether it is time for the next stretch: snapshots must not take more than the requests between them. */
  function isLong(segment: Segment | undefined): boolean {
    if (segment === undefined) return true
    const { bytes, snapshotBytes } = segment
    return bytes - snapshotBytes > Math.max(mostBytes / SEGMENTS, snapshotBytes)
  }

  function count(reel: Reel, segment: Segment, change: number) {
    segment.bytes += change
    reel.bytes += change
    bytes += change
  }

  /** Begins a stretch with the tenant's state as it is now. */
  function snapshot(reel: Reel) {
    const { world } = reel.tenant
    const size = Object.values(world.counts()).reduce((sum, kind) => sum + kind, world.events.last()) * RECORD_BYTES
    // So large a state would hold up its tenant, or take the room of all that it is to explain.
    reel.isTooLarge = size > mostBytes
    if (reel.isTooLarge) return
    const state = deflateSync(JSON.stringify(world.keep()), { level: 1 })
    const start = () => JSON.parse(inflateSync(state).toString())
    const segment: Segment = { start, snapshotBytes: state.length, requests: [], bytes: 0 }
    reel.segments.push(segment)
    count(reel, segment, state.length)
  }

  /** Of a reel that has any bytes. */
  function dropOldest(reel: Reel) {
    const oldest = reel.segments.shift() as Segment
    reel.bytes -= oldest.bytes
    bytes -= oldest.bytes
    reel.dropped += oldest.requests.length
  }

  function makeRoom() {
    while (bytes > mostBytes) {
      let largest: Reel | undefined
      for (const reel of reels.values()) if (reel.bytes > (largest?.bytes ?? 0)) largest = reel
      dropOldest(largest as Reel)
    }
  }

  function forget(clientId: string) {
    bytes -= reels.get(clientId)?.bytes ?? 0
    reels.delete(clientId)
  }

  return {
    began(tenant, { how, state }) {
      forget(tenant.clientId)
      if (mostBytes === 0) return
      const reel: Reel = { tenant, segments: [], bytes: 0, dropped: 0, isTooLarge: false }
      reels.set(tenant.clientId, reel)
      // A fixture can be read again when it is asked for.
      if (how === 'fixture' || how === 'reset')
        reel.segments.push({ start: state, snapshotBytes: 0, requests: [], bytes: 0 })
      else snapshot(reel)
      makeRoom()
    },
    ended: forget,
    add(tenant, request) {
      const reel = reels.get(tenant.clientId)
      if (reel === undefined) return
      if (!reel.isTooLarge && isLong(reel.segments.at(-1))) snapshot(reel)
      const segment = reel.segments.at(-1)
      if (segment === undefined) {
        reel.dropped++
        return
      }
      segment.requests.push(request)
      count(reel, segment, OVERHEAD + request.url.length + request.bodyBytes)
      makeRoom()
    },
    answered(tenant, request, status, body) {
      const reel = reels.get(tenant.clientId)
      const segment = reel?.segments.at(-1)
      if (reel === undefined || segment === undefined) return
      const length = Buffer.byteLength(body)
      request.answer = toAnswer(status, body, length)
      count(reel, segment, request.answer.body === undefined ? 0 : length)
      makeRoom()
    },
    of(tenant) {
      const reel = reels.get(tenant.clientId)
      const segments = reel?.segments ?? []
      const requests = segments.flatMap(segment => segment.requests)
      return {
        dropped: reel?.dropped ?? 0,
        start: segments[0]?.start() ?? tenant.world.keep(),
        requests: requests.map((request, at) => ({
          n: at + 1,
          ...toLine(request),
          answer: request.answer && shown(request.answer),
        })),
      }
    },
  }
}
