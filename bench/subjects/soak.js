import { setTimeout as wait } from 'node:timers/promises'
import { Connection, tokenOf } from '../lib/client.js'
import { residentOf } from '../lib/machine.js'
import { billReference, collectionReference, mandate, mandateReference } from '../lib/records.js'
import { atMost, bytes, count, perSecond } from '../lib/rows.js'
import { answering, launchSandbox, READY } from '../lib/servers.js'
import { createRandom } from '../lib/stats.js'

export const title = 'A day of CI'

const JOBS = 16
/** Requests of a job between two resets. */
const PER_RUN = 300
/** What counts as flat: resident memory after each later tenth, against that after the first. */
const FLAT = 1.1

/** @param {{ quick: boolean, say: (text: string) => void }} options */
export async function run({ quick, say }) {
  const requests = quick ? 50_000 : 1_000_000
  const server = await answering(await launchSandbox(), READY)
  const idle = residentOf(server.pid)
  const progress = { sent: 0, statuses: new Map() }
  const tenth = requests / 10
  const resident = []
  const began = performance.now()

  const jobs = Array.from({ length: JOBS }, (_, at) =>
    job(server.port, at + 1, progress, () => progress.sent < requests),
  )
  const watching = (async () => {
    while (resident.length < 10) {
      if (progress.sent >= tenth * (resident.length + 1)) {
        resident.push(residentOf(server.pid))
        say(`${count(progress.sent)} requests, ${bytes(resident.at(-1))}`)
      }
      await wait(5)
    }
  })()
  await Promise.all([...jobs, watching])
  const seconds = (performance.now() - began) / 1000
  await server.stop()

  const [first, ...later] = resident
  const most = Math.max(...later)
  const failed = [...progress.statuses].filter(([status]) => status >= 500).reduce((sum, [, number]) => sum + number, 0)
  return {
    rows: [
      {
        operation: `resident memory after each later tenth of ${count(requests)} requests, the most`,
        peer: 'after the first tenth',
        ours: bytes(most),
        theirs: bytes(first),
        ratio: most / first,
        spread: [Math.min(...later) / first, most / first],
        goal: atMost('soak', FLAT, most / first),
      },
      {
        operation: 'answers of 5xx',
        peer: '',
        ours: String(failed),
        theirs: '',
        goal: atMost('errors', 0, failed),
      },
    ],
    notes: [
      `${JOBS} jobs at a time, each with a client of its own: reset, token, then some ${PER_RUN} requests of all kinds, some of them illegal, and all over again, at ${perSecond(progress.sent / seconds)}. Idle before: ${bytes(idle)}; after each tenth: ${resident.map(bytes).join(', ')}. Answers: ${[
        ...progress.statuses,
      ]
        .sort(([a], [b]) => a - b)
        .map(([status, number]) => `${status}: ${count(number)}`)
        .join(', ')}.`,
    ],
  }
}

/** One job of CI, run after run, until enough was sent. */
async function job(port, number, progress, goesOn) {
  const connection = new Connection(port)
  const random = createRandom(number)
  const clientId = `job-${number}`
  while (goesOn()) await suite(connection, clientId, random, progress)
  connection.close()
}

/** As a client gives it, who cannot say when it was made. */
const newMandate = number => ({ ...mandate(number), createdAt: undefined })

/** What one run of a test suite sends. */
async function suite(connection, clientId, random, progress) {
  let headers = {}
  const send = async (method, path, body, fields = headers) => {
    const answer = await connection.send(method, path, fields, body === undefined ? undefined : JSON.stringify(body))
    progress.sent++
    progress.statuses.set(answer.status, (progress.statuses.get(answer.status) ?? 0) + 1)
    return answer
  }
  const control = (method, path, body) => send(method, `/_sandbox${path}?client=${clientId}`, body, {})
  const authorise = async () => {
    progress.sent++
    headers = { authorization: `Bearer ${await tokenOf(connection, clientId)}`, 'x-region': 'EU' }
  }

  // The first token request registers the client, and a reset ends its tokens.
  await authorise()
  await control('POST', '/reset')
  await authorise()

  const made = { mandates: 0, collections: 0, links: [], bills: 0, days: 0 }
  for (; made.mandates < 3; made.mandates++) await send('POST', '/api/v1/mandates', newMandate(made.mandates + 1))

  const any = most => 1 + Math.floor(random() * most)
  /** One past what there is, at times: a client asks for what it never made. */
  const some = most => any(most + 1)
  const acts = [
    [3, () => send('POST', '/api/v1/mandates', newMandate(++made.mandates))],
    [1, () => send('POST', '/api/v1/mandates', { ...newMandate(some(made.mandates)), type: 'SOMETIMES' })],
    [
      20,
      () =>
        send('POST', '/api/v1/direct-debit', {
          collectionReference: collectionReference(++made.collections),
          mandateReference: mandateReference(some(made.mandates)),
          amount: `${any(500)}.50`,
          currency: 'EUR',
          collectionDate: new Date(Date.parse('2026-11-16') + (made.days + any(14)) * 86_400_000)
            .toISOString()
            .slice(0, 10),
          debtorReference: random() < 0.1 ? 'SIM-RETURNED-AM04' : `CUST-${any(50)}`,
        }),
    ],
    [1, () => send('POST', '/api/v1/direct-debit', { collectionReference: 'x' })],
    [20, () => send('GET', `/api/v1/direct-debit/${collectionReference(some(made.collections))}`)],
    [8, () => send('GET', '/api/v1/direct-debit')],
    [4, () => send('GET', '/api/v1/direct-debit?status=PENDING,SETTLED&amountMin=20.5&limit=20')],
    [3, () => send('GET', `/api/v1/mandates/${mandateReference(some(made.mandates))}`)],
    [2, () => send('GET', '/api/v1/mandates')],
    [1, () => send('DELETE', `/api/v1/mandates/${mandateReference(some(made.mandates))}`)],
    [
      5,
      async () => {
        const link = { amount: '75.00', currency: 'EUR', payoutMethod: 'SEPA-INSTANT' }
        const { status, body } = await send('POST', '/api/v1/payout-links', link)
        if (status === 201) made.links.push(JSON.parse(body.toString()).payoutLinkId)
      },
    ],
    [
      4,
      () =>
        send('PATCH', `/api/v1/payout-links/${made.links[any(made.links.length) - 1] ?? 'unknown-link'}/cancel`, {
          cancellationComment: 'no longer needed',
        }),
    ],
    [
      4,
      () =>
        send('POST', '/api/v1/bills', {
          uniqueReferenceIdentifier: billReference(++made.bills),
          type: 'INVOICE',
          cashflowType: 'INFLOW',
          counterpartyReference: 'CPTY-0001',
          currency: 'EUR',
          totalAmount: '1190.00',
          dueDate: '2026-12-24',
        }),
    ],
    [4, () => send('PATCH', `/api/v1/bills/${billReference(some(made.bills))}`, { openAmount: `${any(1190)}` })],
    [2, () => send('GET', '/api/v1/bills?status=OPEN')],
    [1, () => send('GET', '/api/v1/accounts')],
    [1, () => send('GET', '/api/v1/direct-debit', undefined, { 'x-region': 'EU' })],
    [1, () => send('GET', '/api/v1/nothing')],
    [2, () => control('GET', '/events')],
    [2, () => control('GET', `/direct-debit/${collectionReference(some(made.collections))}`)],
    [
      1,
      async () => {
        await control('POST', '/clock/advance', { by: 'P3D' })
        made.days += 3
        await authorise()
      },
    ],
  ]
  const all = acts.flatMap(([weight, act]) => Array(weight).fill(act))
  for (let step = 0; step < PER_RUN; step++) await all[any(all.length) - 1]()
}
