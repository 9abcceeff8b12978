import { NOW } from './servers.js'
import { createRandom } from './stats.js'

/** Records as `POST /_sandbox/seed` takes them, the same in each run. */

const DAY = 24 * 3600 * 1000
const END = Date.parse(NOW)
const YEAR = 365 * DAY

export const instant = milliseconds => `${new Date(milliseconds).toISOString().slice(0, 19)}Z`
export const date = milliseconds => new Date(milliseconds).toISOString().slice(0, 10)

const numbered = (prefix, digits) => number => `${prefix}-${String(number).padStart(digits, '0')}`
export const collectionReference = numbered('COL', 7)
export const mandateReference = numbered('MND', 5)
export const debtorReference = numbered('DEBTOR', 5)
export const payoutLinkId = numbered('LINK', 7)
export const billReference = numbered('INV', 5)

/** @param {number} number from 1 */
export const mandate = number => ({
  mandateReference: mandateReference(number),
  type: 'RECURRING',
  creditor: { name: 'Acme GmbH', bankIdentifier: { type: 'CREDITOR_IDENTIFIER', value: 'DE98ZZZ09999999999' } },
  debtor: { name: `Jane Doe ${number}`, iban: 'DE89370400440532013000' },
  createdAt: instant(END - YEAR - DAY),
})

export const mandates = count => Array.from({ length: count }, (_, at) => mandate(at + 1))

/** How a year of collections stands: most is settled, something is always on its way. */
const STATUSES = [
  ['SETTLED', 0.5],
  ['PENDING', 0.15],
  ['RETURNED', 0.12],
  ['SUBMITTED', 0.07],
  ['PROCESSING', 0.04],
  ['FAILED', 0.04],
  ['REJECTED', 0.04],
  ['CANCELLED', 0.04],
]
/** Those that are on their way to something, which must not have come yet. */
const OPEN = new Set(['PENDING', 'SUBMITTED', 'PROCESSING'])

function drawn(random, weighted) {
  let left = random()
  for (const [value, weight] of weighted) {
    left -= weight
    if (left < 0) return value
  }
  return weighted[0][0]
}

/** Log-normal around 50: many small amounts, few large ones. */
function amount(random) {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  return Math.min(Math.max(1, 50 * Math.exp(normal)), 999_999).toFixed(2)
}

/**
 * Collections of the past year, oldest first, spread over statuses, mandates and debtors at random.
 * @param {number} count
 * @param {number} groups how many mandates there are, and how many debtors
 */
export function* collections(count, groups) {
  const random = createRandom(count)
  const step = YEAR / count
  for (let number = 1; number <= count; number++) {
    const at = END - YEAR + Math.floor((number * step) / 1000) * 1000
    const status = drawn(random, STATUSES)
    const due = OPEN.has(status) ? END + (30 + Math.floor(random() * 300)) * DAY : at + 7 * DAY
    yield {
      collectionReference: collectionReference(number),
      mandateReference: mandateReference(1 + Math.floor(random() * groups)),
      amount: amount(random),
      currency: 'EUR',
      collectionDate: date(due),
      debtorReference: debtorReference(1 + Math.floor(random() * groups)),
      status,
      initiatedAt: instant(at),
      updatedAt: instant(at),
    }
  }
}

/** Collections that were just made, and fall due within the four weeks to come. */
export function* openCollections(count, groups) {
  const random = createRandom(count + 1)
  for (let number = 1; number <= count; number++) {
    yield {
      collectionReference: collectionReference(number),
      mandateReference: mandateReference(1 + (number % groups)),
      amount: amount(random),
      currency: 'EUR',
      collectionDate: date(END + (7 + (number % 21)) * DAY),
      debtorReference: debtorReference(1 + (number % groups)),
    }
  }
}

export function* payoutLinks(first, count) {
  for (let number = first; number < first + count; number++) {
    yield { payoutLinkId: payoutLinkId(number), amount: '75.00', currency: 'EUR', payoutMethod: 'SEPA-CT' }
  }
}

export const bills = count =>
  Array.from({ length: count }, (_, at) => ({
    uniqueReferenceIdentifier: billReference(at + 1),
    type: 'INVOICE',
    cashflowType: 'INFLOW',
    counterpartyReference: 'CPTY-0001',
    currency: 'EUR',
    totalAmount: '1190.00',
    dueDate: '2026-12-01',
  }))

/** What goes into one call of seeding: a body may have 1 MiB. */
const BATCH_BYTES = 900_000

/**
 * Adds records to a tenant by as many calls of seeding as it takes.
 * @param {import('./client.js').Connection} connection
 * @param {string} clientId
 * @param {string} kind as seeding names it
 * @param {Iterable<object>} records
 */
export async function seed(connection, clientId, kind, records) {
  const path = `/_sandbox/seed?client=${clientId}`
  let batch = []
  let bytes = 0
  const send = async () => {
    const { status, body } = await connection.send('POST', path, {}, `{"records":{"${kind}":[${batch.join(',')}]}}`)
    if (status !== 200) throw new Error(`seeding ${kind}: ${status} ${body}`)
    batch = []
    bytes = 0
  }
  for (const record of records) {
    const text = JSON.stringify(record)
    batch.push(text)
    bytes += text.length + 1
    if (bytes > BATCH_BYTES) await send()
  }
  if (batch.length > 0) await send()
}
