import { documentOf } from '../areas/bills/documents.js'
import { MASK } from '../http/masking.js'
import type { Pairs, Shown } from './compare.js'
import { createPairs } from './compare.js'
import type { Entry } from './har.js'
import { HIDDEN_CLIENT, parseJson } from './har.js'
import type { Answer, Client, Outgoing, Target } from './target.js'
import { control } from './target.js'

/** A record as the service and the sandbox have shown it last. */
export interface Known extends Shown {
  /** Whether it was there before the capture: its states are not compared. */
  readonly isPrior: boolean
  /** Whether it differs: nothing is said of its state until the service shows it again. */
  isOff: boolean
}

/** A client of the capture. Clients share no records. */
export interface Session extends Client {
  readonly pairs: Pairs
  /** Its records by their keys. */
  readonly records: Map<string, Known>
  /** The latest token of the sandbox, and when it ends in milliseconds. */
  token: { readonly text: string; readonly endsAt: number } | undefined
}

/** Lists the clients of a capture that have got a token. One that is hidden has the other requests. */
export function clientsOf(entries: readonly Entry[]): Client[] {
  const ids = new Set(entries.flatMap(({ clientId, status }) => (status < 300 ? (clientId ?? []) : [])))
  if (ids.size !== 1) ids.add(HIDDEN_CLIENT)
  return [...ids].map(clientId => ({ clientId, clientSecret: MASK }))
}

/**
 * Makes the requests of entries for a sandbox, with tokens of its own.
 * @param only the client of the sandbox for the only one of the capture. If undefined, each stands for itself
 */
export function createSessions(entries: readonly Entry[], target: Target, only: Client | undefined) {
  const sessions = new Map<string, Session>()
  for (const client of clientsOf(entries)) {
    const session: Session = { ...client, ...only, pairs: createPairs(), records: new Map(), token: undefined }
    session.pairs.pair(client.clientId, session.clientId)
    session.pairs.pair(client.clientSecret, session.clientSecret)
    sessions.set(client.clientId, session)
  }
  const [first] = [...sessions.values()] as [Session]
  /** The clients and the tokens of the sandbox for the tokens of the capture. */
  const issued = new Map<string, { readonly session: Session; readonly text: string }>()

  function keep(session: Session, at: number, { status, body }: Answer) {
    if (status === 200) session.token = { text: body.access_token, endsAt: at + body.expires_in * 1000 }
  }

  async function freshToken(session: Session, at: number): Promise<string | undefined> {
    if (session.token === undefined || session.token.endsAt <= at) {
      keep(session, at, await target.send(control('POST', '/tokens', session.clientId)))
    }
    return session.token?.text
  }

  /** Returns the credentials to send: missing, wrong and expired ones stay so. */
  async function authorizationOf({ token, status, at, clientId }: Entry, session: Session) {
    if (clientId !== undefined) return undefined
    const known = issued.get(token ?? '')
    if (known !== undefined) return `Bearer ${known.text}`
    // The token is hidden, or older than the capture.
    if (status !== 401) return `Bearer ${await freshToken(session, at)}`
    const isOver = token === MASK && session.token !== undefined && session.token.endsAt <= at
    return token && `Bearer ${isOver ? session.token?.text : 'unknown'}`
  }

  return {
    of({ clientId, token = '' }: Entry): Session {
      const session = clientId === undefined ? issued.get(token)?.session : sessions.get(clientId)
      return session ?? sessions.get(HIDDEN_CLIENT) ?? first
    },
    /** Whether the token of an entry is older than the capture. */
    isOld: ({ token }: Entry): boolean => token !== undefined && !issued.has(token),
    /** Notes the token of an answer. */
    note({ clientId, answer, at }: Entry, session: Session, ours: Answer): void {
      const token = clientId && parseJson(answer)?.access_token
      if (!token) return
      keep(session, at, ours)
      if (token !== MASK && ours.status === 200) issued.set(token, { session, text: ours.body.access_token })
    },
    /** Returns the request of an entry with the values of the sandbox, or undefined if the capture has not kept it whole. */
    async request(entry: Entry, session: Session): Promise<Outgoing | undefined> {
      const { method, path, search, headers, status, clientId } = entry
      const { pairs } = session
      const cursor = new URLSearchParams(search).get('cursor')
      const isUnknownPage = status < 400 && cursor !== null && !pairs.has(cursor)
      const body = entry.body === 'lost' ? uploadOf(entry) : entry.body
      if (isUnknownPage || body === 'lost') return undefined
      const authorization = await authorizationOf(entry, session)
      const own = (text: string) =>
        text.replace(/(?<=[=/])[^&/?]+/g, value => {
          const [decoded = ''] = new URLSearchParams(`x=${value}`).values()
          return pairs.has(decoded) ? encodeURIComponent(pairs.ours(decoded)) : value
        })
      return {
        method,
        url: own(`${path}${search}`),
        headers: { ...headers, ...(authorization && { authorization }) },
        body: clientId !== undefined && typeof body === 'string' ? own(body) : body,
      }
    },
  }
}

/** Makes an upload that the capture has not kept from its answer: a document of the same name, type and size. */
function uploadOf({ headers, answer }: Entry): Buffer<ArrayBuffer> | 'lost' {
  const { fileName, contentType, size, sha256 } = Object(parseJson(answer))
  const [, boundary] = /boundary="?([^";]+)/.exec(headers['content-type'] ?? '') ?? []
  if (boundary === undefined || fileName === undefined) return 'lost'
  const disposition = `content-disposition: form-data; name="file"; filename="${fileName}"`
  const head = `--${boundary}\r\n${disposition}\r\ncontent-type: ${contentType}\r\n\r\n`
  const end = `\r\n--${boundary}--\r\n`
  return Buffer.concat([Buffer.from(head), documentOf(contentType, size, sha256), Buffer.from(end)])
}
