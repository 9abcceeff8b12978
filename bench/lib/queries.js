import { debtorReference, instant, mandateReference } from './records.js'
import { NOW } from './servers.js'

/** The list calls that are measured, over HTTP and in the store, as the members that `GET /api/v1/direct-debit` takes. */

const END = Date.parse(NOW)
const YEAR = 365 * 24 * 3600 * 1000
const HOUR = 3600 * 1000

/** Each query comes in so many variants, which take turns: an answer that is kept is not what is to be measured. */
const VARIANTS = 8
const vary = make => Array.from({ length: VARIANTS }, (_, at) => make(at))

/** How many mandates, and debtors, a world has: so many that each has more collections than go on a page. */
export const groupsOf = size => Math.max(8, Math.min(2000, Math.round(size / 250)))

/**
 * @typedef {object} Query
 * @property {string} name
 * @property {readonly Record<string, string | string[]>[]} variants
 * @property {'page' | 'filter' | 'combination'} kind
 * @property {boolean} [isPlotted]
 */

/**
 * Every one of them matches more than a page at each size, but for the last two.
 * @param {number} size of the world
 * @param {{ number: number, cursors: string[] }} far a page far from the first, and cursors that lead to it
 * @returns {Query[]}
 */
export function queriesOf(size, far) {
  const group = at => 1 + ((at * 7) % groupsOf(size))
  return [
    { name: 'first page', kind: 'page', variants: [{}], isPlotted: true },
    {
      name: `page ${far.number.toLocaleString('en-US')}`,
      kind: 'page',
      variants: far.cursors.map(cursor => ({ cursor })),
    },
    {
      name: 'status',
      kind: 'filter',
      variants: ['PENDING', 'RETURNED', 'SETTLED'].map(status => ({ status: [status] })),
      isPlotted: true,
    },
    { name: 'scheme', kind: 'filter', variants: [{ scheme: ['SEPA'] }] },
    {
      name: 'mandateReference',
      kind: 'filter',
      variants: vary(at => ({ mandateReference: mandateReference(group(at)) })),
    },
    {
      name: 'debtorReference',
      kind: 'filter',
      variants: vary(at => ({ debtorReference: debtorReference(group(at)) })),
    },
    {
      name: 'initiatedFrom',
      kind: 'filter',
      variants: vary(at => ({ initiatedFrom: instant(END - 0.2 * YEAR - at * HOUR) })),
    },
    {
      name: 'initiatedTo',
      kind: 'filter',
      variants: vary(at => ({ initiatedTo: instant(END - 0.8 * YEAR + at * HOUR) })),
    },
    // Of log-normal amounts around 50, a sixth each.
    { name: 'amountMin', kind: 'filter', variants: vary(at => ({ amountMin: (135 + at / 8).toFixed(2) })) },
    { name: 'amountMax', kind: 'filter', variants: vary(at => ({ amountMax: (19 - at / 40).toFixed(2) })) },
    // Much matches each condition, so that no index leaves little to look at.
    {
      name: 'status, amounts',
      kind: 'combination',
      variants: vary(at => ({ status: ['SETTLED'], amountMin: (30 + at / 10).toFixed(2), amountMax: '80' })),
      isPlotted: true,
    },
    {
      name: '3 statuses, debtor, amount',
      kind: 'combination',
      variants: vary(at => ({
        status: ['SETTLED', 'PENDING', 'RETURNED'],
        debtorReference: debtorReference(group(at)),
        amountMin: '40',
      })),
    },
    // Few match the amount, and they are strewn over half a year: a page takes the whole way.
    {
      name: '2 statuses, half a year, large amount',
      kind: 'combination',
      variants: vary(at => ({
        status: ['SETTLED', 'RETURNED'],
        initiatedFrom: instant(END - 0.75 * YEAR),
        initiatedTo: instant(END - 0.25 * YEAR - at * HOUR),
        amountMin: '2000',
      })),
    },
  ]
}

/** As a client asks for it. */
export function pathOf(query) {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) parameters.set(name, String(value))
  const text = parameters.toString()
  return `/api/v1/direct-debit${text && `?${text}`}`
}
