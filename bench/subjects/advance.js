import { Connection, tokenOf } from '../lib/client.js'
import { mandates, openCollections, seed } from '../lib/records.js'
import { atMost, duration } from '../lib/rows.js'
import { answering, launchSandbox, READY } from '../lib/servers.js'
import { median } from '../lib/stats.js'

export const title = 'Time, reset and fork'

const SIZES = [10_000, 20_000, 40_000]
const MANDATES = 100
const DEMO = 'sandbox-client'

/** @param {{ quick: boolean, say: (text: string) => void }} options */
export async function run({ quick, say }) {
  const rounds = quick ? 2 : 7
  const server = await answering(await launchSandbox(), READY)
  const connection = new Connection(server.port)
  const rows = [...(await months(connection, rounds, say)), ...(await demos(connection, quick ? 20 : 200, say))]
  connection.close()
  await server.stop()
  return {
    rows,
    notes: [
      'A month over collections that all fall due in it: submitted, processed, settled, so three transitions each. The time is that of the whole call, with the answer that tells of each transition.',
    ],
  }
}

/** The worlds are made once; each round advances copies of them. */
async function months(connection, rounds, say) {
  for (const size of SIZES) {
    say(`${size} open collections`)
    const client = `month-${size}`
    await tokenOf(connection, client)
    await seed(connection, client, 'mandates', mandates(MANDATES))
    await seed(connection, client, 'collections', openCollections(size, MANDATES))
  }
  const took = new Map(SIZES.map(size => [size, []]))
  const each = new Map(SIZES.map(size => [size, []]))
  for (let round = -1; round < rounds; round++) {
    for (const size of SIZES) {
      const clientId = `month-${size}-${round + 1}`
      await connection.json('POST', `/_sandbox/fork?client=month-${size}`, {}, { clientId })
      const began = performance.now()
      const answer = await connection.send('POST', `/_sandbox/clock/advance?client=${clientId}`, {}, '{"by":"P31D"}')
      const ms = performance.now() - began
      const { transitions } = JSON.parse(answer.body.toString())
      if (transitions.length !== 3 * size) throw new Error(`${transitions.length} transitions of ${size} collections`)
      // So that copies that are done do not weigh on the next.
      await connection.json('POST', `/_sandbox/reset?client=${clientId}`, {})
      if (round < 0) continue
      took.get(size).push(ms)
      each.get(size).push(ms / transitions.length)
    }
  }
  const [small, , large] = SIZES
  const linear = each.get(large).map((value, round) => value / each.get(small)[round])
  const row = size => ({
    operation: `advance a month, ${size.toLocaleString('en-US')} open collections`,
    peer: '',
    ours: `${duration(median(took.get(size)))}, ${duration(median(each.get(size)))} a transition`,
    theirs: '',
    ...(size === small && { goal: atMost('advance', 100, median(took.get(size)), 'ms') }),
  })
  return [
    ...SIZES.map(row),
    {
      operation: 'time per transition, 40,000 collections',
      peer: 'itself with 10,000',
      ours: duration(median(each.get(large))),
      theirs: duration(median(each.get(small))),
      ratio: median(linear),
      spread: [Math.min(...linear), Math.max(...linear)],
      goal: atMost('linear', 1.3, median(linear)),
    },
  ]
}

/** Against the cheapest call of the same server, which is the way there and back. */
async function demos(connection, rounds, say) {
  say('reset and fork of the demo')
  const calls = {
    reset: () => connection.json('POST', `/_sandbox/reset?client=${DEMO}`, {}),
    fork: round => connection.json('POST', `/_sandbox/fork?client=${DEMO}`, {}, { clientId: `copy-${round}` }),
    ready: () => connection.json('GET', READY, {}),
  }
  const took = { reset: [], fork: [], ready: [] }
  for (let round = 0; round < 2 * rounds; round++) {
    for (const name in calls) {
      const began = performance.now()
      await calls[name](round)
      // The first half is for getting warm.
      if (round >= rounds) took[name].push(performance.now() - began)
    }
  }
  return ['reset', 'fork'].map(name => ({
    operation: `${name} of the demo`,
    peer: 'its own health check',
    ours: duration(median(took[name])),
    theirs: duration(median(took.ready)),
    ratio: median(took[name]) / median(took.ready),
  }))
}
