import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { Readable } from 'node:stream'
import fp from 'fastify-plugin'
import { lastAnswer } from './pipelining.js'
import { createQueue } from './slices.js'

/** The size from which a piece is passed on as it is, in bytes. */
const LARGE = 4 * 1024
/** The size of the pieces that smaller ones become. The first are smaller: most bodies are. */
const [FIRST_BLOCK, BLOCK] = [1024, 16 * 1024]
/** A body up to this size stays in its pieces, in bytes: most requests are smaller. */
const SMALL = 1024
/** The bytes of a body that are joined before it is read. The rest stays in pieces. */
const WAITING = 64 * 1024
/** A body of more pieces than these, with fewer bytes in a piece on average, closes its connection. A read can cut a chunk in two. */
const [MOST_PIECES, LEAST_BYTES] = [20_000, 3]

/**
 * Returns a body whose small pieces are joined. A piece takes some 350 bytes of memory until the body is read, and a chunk
 * (RFC 9112 §7.1) or a segment on the wire can be of one byte.
 * @param cut closes the connection: there are too many pieces. Its request may wait, where no error could be answered
 * @param begin begins the end of the body, after which it is parsed
 */
export function joinPieces(raw: Readable, cut: () => void, begin = (end: () => void) => end()): Readable {
  const body = new Readable({ highWaterMark: WAITING, read: () => void raw.resume() })
  let block = Buffer.alloc(0)
  let [used, pieces, bytes, size] = [0, 0, 0, FIRST_BLOCK]
  const push = (piece: Buffer) => {
    if (piece.length > 0 && !body.push(piece)) raw.pause()
  }
  const pushBlock = () => {
    push(block.subarray(0, used))
    block = Buffer.alloc(0)
    used = 0
  }
  raw.on('data', (piece: Buffer) => {
    bytes += piece.length
    if (++pieces > MOST_PIECES && bytes < pieces * LEAST_BYTES) cut()
    if (used + piece.length > block.length) {
      pushBlock()
      if (piece.length < LARGE) {
        block = Buffer.allocUnsafe(Math.max(size, piece.length))
        size = Math.min(size * 4, BLOCK)
      }
    }
    if (block.length > 0) used += piece.copy(block, used)
    else push(piece)
  })
  raw.once('end', () => {
    pushBlock()
    begin(() => body.push(null))
  })
  raw.once('error', error => body.destroy(error))
  // A request that waits reads no error yet.
  body.on('error', () => {})
  return body
}

const joined = new WeakMap<IncomingMessage, Readable>()

/** Returns the body of a request, joined if it is not small. */
export const bodyOf = (raw: IncomingMessage): Readable => joined.get(raw) ?? raw

/** Whether the pieces of a body can take much memory: of one that is not small, or of one of many that wait. */
const isJoined = ({ headers, socket }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined ||
  Number(headers['content-length'] ?? 0) > (lastAnswer(socket)?.destroyed === false ? 0 : SMALL)

/** Joins bodies from their beginning, also those of requests that wait. */
export const joining = fp((app, _options, done) => {
  // Others come in between the bodies of many senders, which are parsed as they end.
  const begin = createQueue()
  app.addHook('onRequest', ({ raw }, reply, next) => {
    const { socket } = raw
    if (socket instanceof Socket && !socket.destroyed && isJoined(raw)) {
      const body = joinPieces(raw, () => socket.destroy(), begin)
      joined.set(raw, body)
      // Node reads the rest of a body after its answer, and so does this.
      reply.raw.once('close', () => body.resume())
    }
    next()
  })
  app.addHook('preParsing', ({ raw }, _reply, body, next) => next(null, joined.get(raw) ?? body))
  done()
})
