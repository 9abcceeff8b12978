import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below what systems give to whoever asks for any port, so that none of these is given away before it is used. */
const [FIRST, SPAN] = [10_000, 20_000]
/** Test files run beside each other: each process begins somewhere else. */
let next = (process.pid * 10) % SPAN

/** A port that nobody listens on, for a server that must know its own beforehand; each call gives another. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + (next++ % SPAN)
    const server = createServer()
    try {
      await once(server.listen(port, '127.0.0.1'), 'listening')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
      continue
    }
    await once(server.close(), 'close')
    return port
  }
}
