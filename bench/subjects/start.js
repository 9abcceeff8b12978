import { setTimeout as wait } from 'node:timers/promises'
import { residentOf } from '../lib/machine.js'
import { atMost, bytes, duration } from '../lib/rows.js'
import { answering, launchChild, launchSandbox, listening, READY } from '../lib/servers.js'
import { compare } from '../lib/stats.js'

export const title = 'Start and rest'

/** Not kept on one core: what starts may use all that the machine has, as it does for a user. */
const ANYWHERE = { core: null }

/** @param {{ quick: boolean, say: (text: string) => void }} options */
export async function run({ quick, say }) {
  return {
    rows: [...(await starts(quick ? 3 : 21, say)), ...(await rests(quick ? 2 : 5, say))],
    notes: ['A start is the time from spawning the process to its first answer of 200, asked for every millisecond.'],
  }
}

const candidates = [
  { name: 'sandbox', path: READY, launch: () => launchSandbox(ANYWHERE) },
  { name: 'node:http', path: '/', launch: () => launchChild('floor-http.js', [], ANYWHERE) },
  { name: 'Fastify', path: '/', launch: () => launchChild('floor-fastify.js', [], ANYWHERE) },
]

async function starts(rounds, say) {
  say('start to first answer')
  const took = new Map(candidates.map(({ name }) => [name, []]))
  // The first round brings the files into memory.
  for (let round = -1; round < rounds; round++) {
    for (const { name, path, launch } of candidates) {
      const began = performance.now()
      const server = await launch()
      await answering(server, path, { everyMs: 1 })
      if (round >= 0) took.get(name).push(performance.now() - began)
      await server.stop()
    }
  }
  const against = (name, goal) => {
    const { ours, theirs, ratio, spread } = compare(took.get('sandbox'), took.get(name))
    return {
      operation: 'start to first answer',
      peer: name,
      ours: duration(ours),
      theirs: duration(theirs),
      ratio,
      spread,
      ...(goal && { goal: atMost('start', 2, ratio) }),
    }
  }
  return [against('node:http', true), against('Fastify', false)]
}

/** Memory two seconds after the server listens; nothing was asked of it. */
async function rests(rounds, say) {
  say('idle memory')
  const [sandbox, , fastify] = candidates
  const resident = { ours: [], theirs: [] }
  for (let round = 0; round < rounds; round++) {
    const servers = [await listening(await sandbox.launch()), await listening(await fastify.launch())]
    await wait(2000)
    resident.ours.push(residentOf(servers[0].pid))
    resident.theirs.push(residentOf(servers[1].pid))
    await Promise.all(servers.map(server => server.stop()))
  }
  const { ours, theirs, ratio, spread } = compare(resident.ours, resident.theirs)
  return [
    {
      operation: 'idle memory, 2 s after the start',
      peer: 'Fastify',
      ours: bytes(ours),
      theirs: bytes(theirs),
      ratio,
      spread,
      goal: atMost('idle', 1.3, ratio),
    },
  ]
}
