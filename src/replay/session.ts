import { documentOf } from '../areas/bills/documents.js'
import { FORM } from '../http/form.js'
import { MASK } from '../http/masking.js'
import type { Known, Pairs } from './compare.js'
import { createPairs } from './compare.js'
import type { Entry } from './har.js'
import { HIDDEN_CLIENT, parseJson } from './har.js'
import type { Answer, Client, Outgoing, Target } from './target.js'

/** A client of the capture. Clients share no records. */
export interface Session extends Client {
  readonly pairs: Pairs
  readonly records: Map<string, Known>
  /** The latest token of the sandbox, and when it ends in milliseconds. */
  token: { readonly text: string; readonly endsAt: number } | undefined
}

/** Lists the clients of a capture that have got a token, with their secrets. One that is hidden has the other requests. */
export function clientsOf(entries: readonly Entry[]): Client[] {
  const accepted = entries.flatMap(({ credentials, status }) => (credentials && status < 300 ? [credentials] : []))
  const secrets = new Map(accepted.map(({ id, secret }) => [id, secret]))
  if (secrets.size !== 1) secrets.set(HIDDEN_CLIENT, secrets.get(HIDDEN_CLIENT) ?? 'secret')
  return [...secrets].map(([clientId, clientSecret]) => ({ clientId, clientSecret }))
}

export type Sessions = ReturnType<typeof createSessions>

/**
 * Makes the requests of entries for a sandbox, with tokens of its own.
 * @param only the client of the sandbox that stands for that of the capture; undefined: each stands for itself
 */
export function createSessions(entries: readonly Entry[], target: Target, only: Client | undefined) {
  const sessions = new Map<string, Session>()
  for (const client of clientsOf(entries)) {
    const session: Session = { ...client, ...only, pairs: createPairs(), records: new Map(), token: undefined }
    session.pairs.pair(client.clientId, session.clientId)
    session.pairs.pair(client.clientSecret, session.clientSecret)
    sessions.set(client.clientId, session)
  }
  const others = (sessions.get(HIDDEN_CLIENT) ?? [...sessions.values()][0]) as Session
  /** The clients and the tokens of the sandbox for the tokens of the capture. */
  const issued = new Map<string, { readonly session: Session; readonly text: string | undefined }>()

  function keep(session: Session, at: number, { status, body }: Answer) {
    if (status === 200) session.token = { text: body.access_token, endsAt: at + body.expires_in * 1000 }
  }

  async function freshToken(session: Session, at: number): Promise<string | undefined> {
    if (session.token === undefined || session.token.endsAt <= at) {
      const { clientId: client_id, clientSecret: client_secret } = session
      const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret }).toString()
      const headers = { 'content-type': FORM }
      keep(session, at, await target.send({ method: 'POST', url: '/api/v1/oauth/token', headers, body }))
    }
    return session.token?.text
  }

  /** Returns the credentials to send: missing, wrong and expired ones stay so. */
  async function authorizationOf({ token, status, at, credentials, headers }: Entry, session: Session) {
    if (credentials !== undefined || (status === 401 && token === undefined)) return headers.authorization
    const known = issued.get(token ?? '')
    if (known?.text !== undefined) return `Bearer ${known.text}`
    // The token is hidden, or older than the capture.
    if (status !== 401) return `Bearer ${await freshToken(session, at)}`
    const isOver = token === MASK && session.token !== undefined && session.token.endsAt <= at
    return `Bearer ${isOver ? session.token?.text : 'unknown'}`
  }

  return {
    of: ({ credentials, token = '' }: Entry): Session =>
      (credentials === undefined ? issued.get(token)?.session : sessions.get(credentials.id)) ?? others,
    /** Whether the token of an entry is older than the capture. */
    isOld: ({ token }: Entry): boolean => token !== undefined && !issued.has(token),
    /** Notes the token of an answer. */
    note({ credentials, answer, at }: Entry, session: Session, ours: Answer | undefined): void {
      const token = credentials && Object(parseJson(answer)).access_token
      if (token === undefined || ours === undefined) return
      keep(session, at, ours)
      if (token !== MASK) issued.set(token, { session, text: ours.body?.access_token })
    },
    /** Returns the request of an entry with the values of the sandbox; undefined: the capture has not kept it whole. */
    async request(entry: Entry, session: Session): Promise<Outgoing | undefined> {
      const { method, path, search, headers, body, status, credentials } = entry
      const { pairs } = session
      const cursor = new URLSearchParams(search).get('cursor')
      const isUnknownPage = status < 400 && cursor !== null && !pairs.has(cursor)
      const sent = body === 'lost' ? uploadOf(entry) : body
      if (isUnknownPage || sent === 'lost') return undefined
      const authorization = await authorizationOf(entry, session)
      const own = (text: string) =>
        text.replace(/(?<=[=/])[^&/?]+/g, value => {
          const decoded = new URLSearchParams(`x=${value}`).get('x') as string
          return pairs.has(decoded) ? encodeURIComponent(pairs.ours(decoded)) : value
        })
      return {
        method,
        url: own(`${path}${search}`),
        headers: { ...headers, ...(authorization !== undefined && { authorization: basicFor(authorization, pairs) }) },
        body: credentials !== undefined && typeof sent === 'string' ? own(sent) : sent,
      }
    },
  }
}

function basicFor(authorization: string, pairs: Pairs): string {
  const [, encoded] = /^Basic (.*)$/.exec(authorization) ?? []
  if (encoded === undefined) return authorization
  const own = Buffer.from(encoded, 'base64').toString().split(':').map(pairs.ours)
  return `Basic ${Buffer.from(own.join(':')).toString('base64')}`
}

/** Makes an upload that the capture has not kept from its answer: a document of the same name, type and size. */
function uploadOf({ headers, answer }: Entry): Buffer | 'lost' {
  const { fileName, contentType, size, sha256 } = Object(parseJson(answer))
  const [, boundary] = /boundary="?([^";]+)/.exec(headers['content-type'] ?? '') ?? []
  if (boundary === undefined || fileName === undefined) return 'lost'
  const disposition = `content-disposition: form-data; name="file"; filename="${fileName}"`
  const head = `--${boundary}\r\n${disposition}\r\ncontent-type: ${contentType}\r\n\r\n`
  return Buffer.concat([
    Buffer.from(head),
    documentOf(contentType, size, sha256),
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ])
}
