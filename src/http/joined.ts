import { Transform } from 'node:stream'

/** The size from which a piece is passed on as it is, in bytes. */
const LARGE = 4 * 1024
/** The size of the pieces that smaller ones become. */
const BLOCK = 16 * 1024

/**
 * Creates a stream that joins small pieces of a body. A piece takes some 350 bytes of memory until the body is read, and a
 * chunk on the wire (RFC 9112 §7.1) can be of one byte.
 */
export function createJoiner(): Transform {
  let block = Buffer.alloc(0)
  let used = 0
  const rest = () => {
    const joined = block.subarray(0, used)
    block = Buffer.alloc(0)
    used = 0
    return joined
  }
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      if (used + piece.length > block.length) {
        if (used > 0) this.push(rest())
        if (piece.length < LARGE) block = Buffer.allocUnsafe(BLOCK)
      }
      if (block.length > 0) used += piece.copy(block, used)
      else this.push(piece)
      done()
    },
    flush(done) {
      done(null, rest())
    },
  })
}
