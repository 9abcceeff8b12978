import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { errors } from '../core/errors.js'
import { JSON_TYPE } from './error-handler.js'
import { jsonPieces, textPieces } from './json-pieces.js'
import type { LargeReadsOptions } from './large-reads.js'
import type { Place } from './places.js'
import { createPlaces, tooMany, watchOf } from './places.js'
import type { Eventually } from './request-context.js'
import { isSliceOver } from './slices.js'
import type { Timers } from './timers.js'

/** The size above which an answer is large, in bytes or characters. */
export const LARGE = 1024 * 1024

/** The maximum number of large answers at a time. The others wait. */
const MOST = 4
/** The maximum number of those of a client that wait. */
const MOST_WAITING = 100

/** A reader that takes nothing for this time is cut off. One that waits for this time is refused. */
export const PATIENCE_MS = 60_000

const refusal = tooMany('Too many large answers are read')

export type LargeAnswers = ReturnType<typeof createLargeAnswers>

/**
 * Creates the large answers of a server. Each needs memory until its reader has taken it, so few are sent at a time. Those
 * for one client leave a place to others.
 * @param ownerOf returns the client that a request is for
 */
export function createLargeAnswers({ later, elapsed }: Timers, ownerOf: LargeReadsOptions['ownerOf']) {
  const places = createPlaces(MOST, { mostOfOwner: MOST - 1, mostPaused: Infinity })

  /** Does some work after the patience with a reader. A server that closes ends all waits early, and has its own patience. */
  function impatiently(work: () => void): () => void {
    const began = elapsed()
    return later(PATIENCE_MS, () => {
      if (elapsed() - began > PATIENCE_MS / 2) work()
    })
  }

  async function* patiently(pieces: Iterable<string>, cutOff: () => void) {
    let began = elapsed()
    for (const piece of pieces) {
      if (piece === '' && !isSliceOver(began, elapsed)) continue
      began = elapsed()
      const cancel = impatiently(cutOff)
      try {
        yield piece
      } finally {
        cancel()
      }
      // Other requests come in between, however fast the reader is.
      await setImmediate()
    }
  }

  /** @throws SERVICE_UNAVAILABLE, which has no reader any more */
  function assertOpen({ raw }: FastifyReply) {
    if (raw.destroyed) throw errors.unavailable('The connection is closed.')
  }

  return {
    /** The number of answers that have a place or wait for one, for tests. */
    inUse: places.inUse,
    /**
     * Sends a JSON document in pieces, each once the reader takes it.
     * @param make returns the document or its text, when it is its turn. The place can be paused meanwhile
     * @param indent as of JSON.stringify; a text has its own
     */
    async send(
      reply: FastifyReply,
      make: (place: Place) => Eventually<object | string>,
      indent?: number,
    ): Promise<Readable> {
      const owner = ownerOf(reply.request)
      if (places.countOf(owner) === MOST - 1 + MOST_WAITING) throw refusal()
      const place = await places.enter(owner, watchOf(reply.raw, impatiently, refusal))
      try {
        assertOpen(reply)
        const document = await make(place)
        assertOpen(reply)
        // Node would throw the pieces of an answer to HEAD away.
        const pieces = reply.request.method === 'HEAD' ? [] : piecesOf(document, indent)
        const stream = Readable.from(
          patiently(pieces, () => reply.raw.destroy()),
          { objectMode: false },
        )
        stream.once('close', place.leave)
        reply.type(JSON_TYPE)
        return stream
      } catch (error) {
        place.leave()
        throw error
      }
    },
  }
}

const piecesOf = (document: object | string, indent?: number) =>
  typeof document === 'string' ? textPieces(document) : jsonPieces(document, indent)
