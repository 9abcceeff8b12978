import { Agent } from 'node:http'
import fc from 'fast-check'
import type { Test } from 'tap'
import { FORMS } from './areas/pages.js'
import { bill, build, collection, mandate, payoutLink } from './helper.js'
import { listen } from './http/raw.js'
import { MULTIPART, multipart } from './multipart.js'
import { exchange, PUBLIC_URL, type Received } from './server-process.js'

// Rounds of parallel jobs on one server: each forks a prepared client and goes through the same journey. Every job must
// get the bytes that a single job gets on a server of its own in memory, with its own id.

/** The jobs of a round. */
const MOST_JOBS = 16
const KILL_EVERY = 10
const ORIGIN = 'base'

interface Step {
  /** The status of the answer; undefined: there is none. */
  readonly is: number | undefined
  /** Method and URL. JOB is the client of the job. LINK is the payout link of the origin, PAGE the token of its page. */
  readonly line: string
  readonly body?: object | Buffer
  readonly form?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  /** Whether the answer depends on what a crash loses: the log and the coverage. */
  readonly isOfLog?: true
}

const onJob = (line: string) => `${line}?client=JOB`
const token: Step = {
  is: 200,
  line: 'POST /api/v1/oauth/token',
  form: { grant_type: 'client_credentials', client_id: 'JOB', client_secret: 'secret' },
}
const collect = (is: number, collectionReference: string, changes: object = {}): Step => ({
  is,
  line: 'POST /api/v1/direct-debit',
  body: collection({ collectionReference, ...changes }),
})
const arm = (path: string, effect: object, more: object = {}): Step => ({
  is: 201,
  line: onJob('POST /_sandbox/faults'),
  body: { match: { path }, effect, ...more },
})
const MANDATES = '/api/v1/mandates'
const LINKS = '/api/v1/payout-links'
const BILLS = '/api/v1/bills'
const link: Step = { is: 201, line: `POST ${LINKS}`, body: payoutLink() }
const page: Step = { is: 200, line: onJob('GET /pay/LINK'), headers: { accept: 'text/html' } }
const readBills = (is: number): Step => ({ is, line: `GET ${BILLS}` })

/** What a job does. The first step makes its client, the last one removes it. */
const STEPS: readonly Step[] = [
  { is: 201, line: `POST /_sandbox/fork?client=${ORIGIN}`, body: { clientId: 'JOB' } },
  { ...token, is: 401, form: { ...token.form, client_secret: 'wrong' } },
  token,
  { is: 201, line: `POST ${MANDATES}`, body: mandate({ mandateReference: 'MND-JOB' }) },
  { is: 409, line: `POST ${MANDATES}`, body: mandate({ mandateReference: 'MND-JOB' }) },
  { is: 200, line: `GET ${MANDATES}?limit=1` },
  collect(201, 'COL-0002', { debtorReference: 'SIM-RETURNED-AM04' }),
  collect(400, 'COL-0003', { amount: '0' }),
  { is: 201, line: onJob('POST /_sandbox/outcomes'), body: { match: { amount: '7.00' }, outcome: 'FAILED' } },
  collect(201, 'COL-0003', { amount: '7.00' }),
  { is: 200, line: 'GET /api/v1/direct-debit?limit=2&page=1' },
  // Faults: the draws are those of the origin, and an answer that is lost was applied.
  arm(`${BILLS}*`, { kind: 'error', status: 503, retryAfter: 3 }, { times: null, probability: 0.5 }),
  ...[200, 503, 503, 503].map(readBills),
  arm(LINKS, { kind: 'drop', when: 'after' }),
  { ...link, is: undefined },
  link,
  arm('*/COL-0003', { kind: 'truncate' }),
  arm('*/COL-0003', { kind: 'garbage' }),
  { is: 200, line: 'GET /api/v1/direct-debit/COL-0003' },
  { is: undefined, line: 'GET /api/v1/direct-debit/COL-0003' },
  { is: 200, line: onJob('DELETE /_sandbox/faults') },
  page,
  {
    is: 303,
    line: page.line.replace('GET', 'POST'),
    form: { action: 'claim', token: 'PAGE', ...FORMS['SEPA-CT'] },
    headers: { accept: 'text/html' },
  },
  { ...page, is: 409 },
  { is: 201, line: `POST ${BILLS}`, body: bill() },
  { is: 201, line: `POST ${BILLS}/INV-2026-001/document`, body: multipart({}), headers: MULTIPART },
  { is: 404, line: `GET ${BILLS}/INV-2026-001`, headers: { 'x-region': 'UK' } },
  { is: 200, line: onJob('POST /_sandbox/clock/advance'), body: { by: 'P10D' } },
  { is: 401, line: 'GET /api/v1/direct-debit/COL-0002' },
  token,
  { is: 200, line: 'GET /api/v1/direct-debit/COL-0002' },
  { is: 200, line: onJob('GET /_sandbox/direct-debit/COL-0003') },
  { is: 200, line: `${onJob('GET /_sandbox/events')}&after=3` },
  { is: 200, line: onJob('POST /_sandbox/requests/verify'), body: { path: BILLS, times: 5 }, isOfLog: true },
  { is: 200, line: `${onJob('GET /_sandbox/requests')}&errors=true`, isOfLog: true },
  { is: 200, line: onJob('GET /_sandbox/coverage'), isOfLog: true },
  { is: 200, line: onJob('GET /_sandbox/state') },
  { is: 200, line: 'DELETE /_sandbox/clients/JOB' },
]

/** The requests that prepare the origin of the forks. */
const PREPARATION: readonly Step[] = [
  { ...token, form: { ...token.form, client_id: ORIGIN } },
  { is: 201, line: `POST ${MANDATES}`, body: mandate() },
  collect(201, 'COL-0001'),
  { is: 201, line: `POST ${BILLS}`, body: bill({ uniqueReferenceIdentifier: 'INV-2026-000' }) },
  link,
]

/** Headers of the real time and of the connection. */
const NOT_COMPARED = new Set(['date', 'connection', 'keep-alive'])
/** The real time that a logged request took. */
const DURATION = /"durationMs":[\d.]+/g

interface Difference {
  readonly what: string
  readonly actual: string
  readonly expected: string | undefined
}

interface Answer extends Received {
  /** All that is compared, without the id of the job. */
  readonly bytes: string
}

/** The payout link of the origin and the token of its page, which are those of each fork, too. */
interface Known {
  link: string
  pageToken: string
}

/** A client that sends steps one after the other, on a connection of its own. */
function createClient(clientId: string, known: Known) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  let accessToken = ''

  const fill = (text: string) =>
    text.replaceAll('JOB', clientId).replaceAll('LINK', known.link).replaceAll('PAGE', known.pageToken)

  function payloadOf({ form, body }: Step) {
    if (form !== undefined) return fill(new URLSearchParams(form).toString())
    return body === undefined || Buffer.isBuffer(body) ? body : fill(JSON.stringify(body))
  }

  function bytesOf({ status, headers, text, error }: Received): string {
    const timeless = text.replaceAll(DURATION, '"durationMs":0')
    const lines = headers.flatMap((name, at) =>
      at % 2 === 1 ||
      NOT_COMPARED.has(name.toLowerCase()) ||
      (name === 'content-length' && text.includes('"durationMs"'))
        ? []
        : [`${name}: ${headers[at + 1]}`],
    )
    return [status, ...lines, '', timeless, error?.code]
      .join('\n')
      .replaceAll(clientId, 'JOB')
      .replaceAll(accessToken || 'TOKEN', 'TOKEN')
  }

  async function send(base: string, step: Step, number: number): Promise<Answer> {
    const [method = '', url = ''] = step.line.split(' ')
    const payload = payloadOf(step)
    const received = await exchange(base, agent, {
      method,
      url: fill(url),
      headers: {
        host: 'sandbox',
        // The answer to another job would have another id.
        'x-request-id': `${clientId}-${number}`,
        'x-region': 'EU',
        ...(accessToken !== '' && { authorization: `Bearer ${accessToken}` }),
        'content-type': step.form === undefined ? 'application/json' : 'application/x-www-form-urlencoded',
        ...step.headers,
      },
      payload,
    })
    accessToken = /"access_token":"([^"]+)"/.exec(received.text)?.[1] ?? accessToken
    return { ...received, bytes: bytesOf(received) }
  }

  return {
    send,
    /** Returns the state of the client. */
    async state(base: string): Promise<string> {
      return (await send(base, { is: 200, line: onJob('GET /_sandbox/state') }, 0)).bytes
    },
    end: () => agent.destroy(),
  }
}

/** Prepares the origin of the forks. */
async function prepare(base: string) {
  const known = { link: '', pageToken: '' }
  const client = createClient(ORIGIN, known)
  for (const [at, step] of PREPARATION.entries()) {
    const { status, text } = await client.send(base, step, at)
    if (status !== step.is) throw new Error(text)
    known.link = /"payoutLinkId":"([^"]+)"/.exec(text)?.[1] ?? ''
  }
  return { client, known }
}

/** A job that is done by itself. */
interface Reference {
  readonly known: Known
  readonly answers: readonly string[]
  /** The state of the client before each step, and after the last one. */
  readonly states: readonly string[]
}

/** Does a job on a server of its own, in memory. */
async function doAlone(t: Test): Promise<Reference> {
  const app = build(t, { publicUrl: () => PUBLIC_URL })
  const base = `http://127.0.0.1:${await listen(app)}`
  const { client: origin, known } = await prepare(base)
  const client = createClient('job-00000', known)
  const answers: string[] = []
  const states = [await client.state(base)]
  const wrong: string[] = []
  for (const [at, step] of STEPS.entries()) {
    const { status, text, bytes } = await client.send(base, step, at)
    if (status !== step.is) wrong.push(`${step.line}\n${bytes}`)
    known.pageToken = /name="token" value="([^"]+)"/.exec(text)?.[1] ?? known.pageToken
    answers.push(bytes)
    states.push(await client.state(base))
  }
  t.same(wrong, [], 'each step of the journey has its status')
  origin.end()
  client.end()
  return { known, answers, states }
}

/** A job beside others. It notes each difference from the reference. */
function createJob(clientId: string, { known, answers, states }: Reference, differences: Difference[]) {
  const client = createClient(clientId, known)
  let at = 0
  let isResumed = false

  const compare = (what: string, actual: string, expected?: string) => {
    if (actual !== expected) differences.push({ what: `${clientId}, ${what}`, actual, expected })
  }
  return {
    end: client.end,
    /** Does the steps that are left, until the server is gone. */
    async go(base: string, sent = () => {}, isGone = () => false) {
      for (; at < STEPS.length; at++) {
        const step = STEPS[at] as Step
        sent()
        const { bytes, error } = await client.send(base, step, at)
        if (error !== undefined && isGone()) return
        if (!(isResumed && step.isOfLog)) compare(step.line, bytes, answers[at])
      }
    },
    /** Finds out, after a restart, whether the step without an answer was done. Those before it were. */
    async resume(base: string) {
      isResumed = true
      const state = await client.state(base)
      if (state === states[at]) return
      compare(`after ${STEPS[at]?.line}`, state, states[at + 1])
      at++
    },
  }
}

/** A server, by its address. One that can be killed has a database. */
interface Target {
  readonly url: string
  kill?(): Promise<void>
}

/**
 * Plays rounds of parallel jobs. If the server has a database, it is killed in every tenth round, the first one
 * included: the jobs then go on with the next server.
 */
export async function playRounds(
  t: Test,
  rounds: number,
  start: () => Promise<Target>,
  jobsOfRound = MOST_JOBS,
): Promise<void> {
  const reference = await doAlone(t)
  let server = await start()
  const { client: origin } = await prepare(server.url)
  const before = await origin.state(server.url)
  const moments = fc.sample(fc.noBias(fc.integer({ min: 1, max: jobsOfRound * STEPS.length })), {
    seed: 31,
    numRuns: rounds,
  })
  const differences: Difference[] = []
  let kills = 0

  for (const [round, moment] of moments.entries()) {
    const jobs = Array.from({ length: jobsOfRound }, (_, at) =>
      createJob(`job-${String(1 + round * jobsOfRound + at).padStart(5, '0')}`, reference, differences),
    )
    const { url, kill } = server
    let left = round % KILL_EVERY === 0 && kill !== undefined ? moment : Number.POSITIVE_INFINITY
    let killed: Promise<void> | undefined
    const sent = () => {
      if (--left === 0) killed = kill?.()
    }
    await Promise.all(jobs.map(job => job.go(url, sent, () => killed !== undefined)))
    if (killed !== undefined) {
      await killed
      kills++
      server = await start()
      await Promise.all(jobs.map(job => job.resume(server.url)))
      await Promise.all(jobs.map(job => job.go(server.url)))
    }
    for (const job of jobs) job.end()
    const after = await origin.state(server.url)
    if (after !== before) differences.push({ what: `the origin after round ${round}`, actual: after, expected: before })
    if (differences.length > 0) break
  }
  origin.end()
  t.equal(differences.length, 0, `${rounds * jobsOfRound} jobs, ${kills} kills: differences`)
  for (const { what, actual, expected } of differences.slice(0, 1)) t.equal(actual, expected, what)
}
