import { assemble } from './assemble.js'
import type { Fixtures } from './fixtures.js'
import type { AnswerLine, RequestLine } from './recording.js'
import { answerLine } from './recording.js'
import type { Identity } from './sandbox.js'
import type { State } from './state.js'

/** What a replay begins with. */
export interface ReplayStart {
  readonly seed: string
  readonly publicUrl: string
  /** In seconds. */
  readonly tokenLifetime: number
  readonly identity: Omit<Identity, 'secretDigest'>
  /** The state that the first request met. */
  readonly start: State
  /** For requests that seed one. */
  readonly fixtures: Fixtures
}

/** A tenant that lives through recorded requests once more, in a server of its own. */
export interface Replay {
  /** Applies the next request at the tenant's time at which it was applied. Answers what came of it. */
  apply(request: RequestLine): Promise<AnswerLine>
  /** The state that the requests so far have led to. */
  state(): State
  close(): Promise<void>
}

/** @throws what `Sandbox.adopt` does: the parts of the state do not fit together */
export async function startReplay({ identity, start, publicUrl, ...options }: ReplayStart): Promise<Replay> {
  const { clientId } = identity
  let realNow = 0
  let url = publicUrl
  const { app, sandbox } = assemble({
    ...options,
    clients: [{ ...identity, clientSecret: '-' }],
    openRegistration: true,
    maxTenants: 2,
    publicUrl: () => url,
    isTrusting: true,
    isReplay: true,
    journal: { entries: 0 },
    recordingBytes: 0,
    now: () => realNow,
  })
  sandbox.adopt({ ...identity, secretDigest: null }, start, realNow)
  await app.ready()

  /** The clock of the recording, not the real one, says when a request comes. */
  function standAt(at: string, receivedAt: string) {
    const { clock } = sandbox.tenant(clientId, realNow).world
    realNow = Date.parse(receivedAt)
    clock.standAt(Date.parse(at), realNow)
  }

  return {
    async apply({ at, receivedAt, method, url: target, headers, body, bodyBase64, publicUrl = url }) {
      standAt(at, receivedAt)
      url = publicUrl
      const payload = body ?? (bodyBase64 === undefined ? undefined : Buffer.from(bodyBase64, 'base64'))
      const response = await app.inject({
        method: method as 'POST',
        url: target,
        headers: { ...headers, authorization: `Bearer ${clientId}` },
        ...(payload !== undefined && { payload }),
      })
      return answerLine(response.statusCode, method === 'HEAD' ? '' : response.payload)
    },
    state: () => sandbox.tenant(clientId, realNow).world.keep(),
    close: () => app.close(),
  }
}
