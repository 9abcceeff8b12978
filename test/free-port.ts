import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the range of ephemeral ports, so that the system assigns none of these to another process. */
const [FIRST, SPAN] = [10_000, 20_000]
/** Test files run beside each other: each process begins somewhere else. */
let next = (process.pid * 10) % SPAN

/** Returns an unused port, for a server that needs its port in its settings. Each call returns another. */
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
