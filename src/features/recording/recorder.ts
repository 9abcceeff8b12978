import type { TenantListener } from '../../tenants/registry.js'
import type { TenantSnapshot } from '../../tenants/snapshot.js'
import type { Tenant } from '../../tenants/tenant.js'
import type { RecordedAnswer, RecordedRequest, Recording } from './file-format.js'

/** The requests that changed a tenant since it was created, or could have. */
interface TenantRecording {
  readonly tenant: Tenant
  readonly start: () => TenantSnapshot
  /** JSON texts of `RecordedRequest`. */
  readonly requests: string[]
  readonly answers: (RecordedAnswer | null)[]
  /** That of the last request; undefined: that of the server. */
  publicUrl: string | undefined
  bytes: number
  isComplete: boolean
}

/** Names a recorded request until its answer is known. */
export interface Recorded {
  readonly tenant: Tenant
  readonly index: number
}

export type Recorder = ReturnType<typeof createRecorder>

/** The bytes that a request and an answer take beside their texts, roughly. */
const OVERHEAD = 256

/** The bytes of a state, roughly. */
const bytesOf = ({ counts, events }: Tenant) =>
  OVERHEAD * Object.values(counts()).reduce((sum, count) => sum + count, events.last())

/**
 * Creates the recordings of all tenants, bounded by bytes for all together. At the bound a recording stops.
 * @param publicUrl returns the address of the server for a request without another
 */
export function createRecorder(mostBytes: number, publicUrl: () => string) {
  const recordings = new Map<string, TenantRecording>()
  let bytes = 0

  /** Takes room for some bytes. Returns whether there is any. */
  function reserve(recording: TenantRecording, count: number): boolean {
    if (bytes + count > mostBytes) return false
    bytes += count
    recording.bytes += count
    return true
  }

  function remove(clientId: string) {
    bytes -= recordings.get(clientId)?.bytes ?? 0
    recordings.delete(clientId)
  }

  const listener: Required<TenantListener> = {
    onCreated(tenant, { reason, snapshot }) {
      remove(tenant.clientId)
      // The state of a fixture is made when it is read. Of other states, the records are shared: they are immutable.
      const isFixture = reason === 'fixture' || reason === 'reset'
      const state = isFixture || mostBytes === 0 ? undefined : snapshot()
      const start = state === undefined ? snapshot : () => state
      const recording = { tenant, start, requests: [], answers: [], publicUrl: undefined, bytes: 0, isComplete: true }
      if (reserve(recording, state === undefined ? 0 : bytesOf(tenant))) {
        recordings.set(tenant.clientId, recording)
      }
    },
    onChangedElsewhere({ clientId }) {
      const recording = recordings.get(clientId)
      if (recording !== undefined) recording.isComplete = false
    },
    onRemoved: remove,
  }

  return {
    ...listener,
    /** Records a request. The address of payout links is kept where it has changed. */
    add(tenant: Tenant, { publicUrl: address, ...request }: RecordedRequest): Recorded | null {
      const recording = recordings.get(tenant.clientId)
      if (recording === undefined) return null
      const isSame = address === (recording.publicUrl ?? publicUrl())
      const text = JSON.stringify({ ...request, ...(!isSame && { publicUrl: address }) })
      recording.publicUrl = address
      recording.isComplete &&= reserve(recording, OVERHEAD + text.length)
      if (!recording.isComplete) return null
      recording.answers.push(null)
      return { tenant, index: recording.requests.push(text) - 1 }
    },
    answer({ tenant, index }: Recorded, answer: RecordedAnswer): void {
      const recording = recordings.get(tenant.clientId)
      // An answer without room stays unknown: a replay does not compare it.
      if (recording?.tenant !== tenant || !reserve(recording, answer.body?.length ?? 0)) return
      recording.answers[index] = answer
    },
    /** Returns the bytes that are counted less those of all recordings, for tests: 0. */
    miscount: (): number => bytes - [...recordings.values()].reduce((sum, recording) => sum + recording.bytes, 0),
    /** Returns the bytes of a recording, roughly. */
    bytes: (tenant: Tenant): number => recordings.get(tenant.clientId)?.bytes ?? bytesOf(tenant),
    /** Returns a recording. Its requests are parsed when they are read. */
    of(tenant: Tenant): Pick<Recording, 'complete' | 'start'> & { requests: Iterable<Recording['requests'][number]> } {
      const recording = recordings.get(tenant.clientId)
      if (recording === undefined) return { complete: false, start: tenant.snapshot(), requests: [] }
      const { isComplete, start, requests, answers } = recording
      return {
        complete: isComplete,
        start: start(),
        requests: parsed([...requests], [...answers]),
      }
    },
  }
}

/** Parses the requests of a recording one by one. */
function* parsed(
  requests: readonly string[],
  answers: TenantRecording['answers'],
): Generator<Recording['requests'][number]> {
  for (const [index, text] of requests.entries()) {
    yield { n: index + 1, ...(JSON.parse(text) as RecordedRequest), answer: answers[index] ?? null }
  }
}
