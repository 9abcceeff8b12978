import { centsAtLeast, centsAtMost, parseAmount } from '../../core/rules/money.js'
import { isList } from '../contract.js'
import type { Observation } from '../observations.js'
import type { Rule, Source, Verdict } from '../rule.js'
import { assumed, documented, rule, verdict } from '../rule.js'
import { membersOf, textAt } from '../values.js'
import { sourceOf } from './sources.js'

const LIST = 'GET /api/v1/direct-debit'
const OTHERS = ['listMandates', 'listBills', 'listAccounts']
const ENVELOPE = assumed(5, 'Uses one envelope for all lists: `totalCount`, `hasMore`, `nextCursor`, `data`.')

/** Makes a rule of the list of collections, which is documented, and of the other lists, which are assumed. */
const ofLists = (id: string, ofCollections: Source, ofOthers: Source, check: Rule['check']): readonly Rule[] => [
  rule(id, ofCollections, ['listCollections'], check),
  rule(id, ofOthers, OTHERS, check),
]

const isPage = ({ isAccepted, operation, answer, content, method }: Observation) =>
  isAccepted &&
  method !== 'HEAD' &&
  operation !== undefined &&
  isList(operation) &&
  answer.kind === 'json' &&
  ![...content.faults.keys()].some(key => /^(data|totalCount|hasMore|nextCursor)( |$)/.test(key))

const pageOf = ({ answer }: Observation) =>
  membersOf(answer.kind === 'json' && answer.value) as {
    totalCount?: number
    hasMore?: boolean
    nextCursor?: string | null
  }

const DEFAULT_LIMIT = 100

/** Whether the texts of a list never rise. */
const isFalling = (texts: readonly (string | undefined)[]) =>
  texts.every((text, at) => text === undefined || at === 0 || (texts[at - 1] ?? text) >= text)

/** Rules of pages. */
export const listRules: readonly Rule[] = [
  ...ofLists(
    'order',
    documented(LIST, 'Sorts them by `initiatedAt`, newest first.'),
    assumed(5, 'Sorts by creation time, newest first.'),
    observation => {
      const created = observation.operation?.kind?.created
      if (!isPage(observation) || created === undefined || observation.records.length < 2) return undefined
      return verdict(isFalling(observation.records.map(record => textAt(record, created))), 'not the newest first')
    },
  ),
  ...ofLists(
    'next page',
    documented(
      'Collection list envelope',
      '| `nextCursor` | string | no | Opaque cursor of the next page. null when `hasMore` is false |',
    ),
    ENVELOPE,
    observation => {
      if (!isPage(observation)) return undefined
      const { hasMore, nextCursor } = pageOf(observation)
      const isRight = hasMore ? typeof nextCursor === 'string' : (nextCursor ?? null) === null
      return verdict(isRight, hasMore ? 'hasMore without nextCursor' : 'nextCursor, although hasMore is false')
    },
  ),
  rule(
    'last page',
    assumed(5, 'Includes `nextCursor` on the last page, as null.'),
    ['listCollections', ...OTHERS],
    observation => {
      if (!isPage(observation) || pageOf(observation).hasMore !== false) return undefined
      const { nextCursor } = pageOf(observation)
      return typeof nextCursor === 'string' ? undefined : verdict(nextCursor === null, 'nextCursor is absent')
    },
  ),
  ...ofLists(
    'size of a page',
    documented(LIST, '| `limit` | integer | Records per page. Minimum 1, maximum 500, default 100 |'),
    assumed(5, '| List | Filters besides `limit` and `cursor` |'),
    observation => {
      if (!isPage(observation)) return undefined
      const limit = Number(observation.filters.limit ?? DEFAULT_LIMIT)
      return verdict(observation.records.length <= limit, 'more records than the limit')
    },
  ),
  ...ofLists(
    'total count',
    documented(
      'Collection list envelope',
      '| `totalCount` | integer | yes | Count of the records that match the filters, over all pages |',
    ),
    assumed(5, 'Counts all matches in `totalCount`, regardless of the cursor.'),
    (observation, { history }) => {
      if (!isPage(observation)) return undefined
      const { totalCount = 0, hasMore } = pageOf(observation)
      const { length } = observation.records
      const { cursor } = observation.query
      const pages = history.before(cursor)
      const before = pages.reduce((sum, { references }) => sum + references.size, 0)
      if (cursor !== undefined && pages.length === 0) return undefined
      if (pages.length > 0) return verdict(totalCount >= before + length, 'not the records of earlier pages')
      return verdict(hasMore ? totalCount > length : totalCount === length, 'another number than that of the records')
    },
  ),
  rule(
    'cursor',
    assumed(5, 'A cursor is a position. New records neither repeat nor shift the records after it.'),
    ['listCollections', ...OTHERS],
    (observation, { history }) => {
      const pages = history.before(observation.query.cursor)
      const reference = observation.operation?.kind?.reference
      if (!isPage(observation) || pages.length === 0 || reference === undefined) return undefined
      const repeats = observation.records.some(record =>
        pages.some(({ references }) => references.has(textAt(record, reference) ?? '')),
      )
      return verdict(!repeats, 'a record of an earlier page is repeated')
    },
  ),
  rule(
    'spellings of array filters',
    assumed(1, 'Accepts three spellings of the array filters `status` and `scheme`:'),
    ['listCollections', 'listMandates', 'listBills'],
    observation => {
      const { isAccepted, status, records, queryError } = observation
      if (queryError !== undefined || !isSpelled(observation)) return undefined
      if (status === 400) return { why: 'refused' }
      if (!isAccepted) return undefined
      const isMatch = ['status', 'scheme'].every(name =>
        records.every(record => matches(name, observation.filters[name], record)),
      )
      return verdict(isMatch, 'the filter is ignored')
    },
  ),
]

/** Whether a query spells an array filter in another way than by repeating it. */
export const isSpelled = ({ query }: Observation) =>
  Object.entries(query).some(
    ([name, value]) =>
      /^(status|scheme)\[\d*\]$/.test(name) || (/^(status|scheme)$/.test(name) && /,/.test(String([value].flat()[0]))),
  )

/** The bounds of ranges: the member that they compare, and whether a value is within. */
const BOUNDS: Readonly<Record<string, readonly [member: string, isWithin: (value: string, bound: string) => boolean]>> =
  {
    initiatedFrom: ['initiatedAt', (value, bound) => value >= bound],
    initiatedTo: ['initiatedAt', (value, bound) => value <= bound],
    dueDateFrom: ['dueDate', (value, bound) => value >= bound],
    dueDateTo: ['dueDate', (value, bound) => value <= bound],
    amountMin: ['amount', (value, bound) => parseAmount(value) >= centsAtLeast(bound)],
    amountMax: ['amount', (value, bound) => parseAmount(value) <= centsAtMost(bound)],
  }

const AMOUNT = /^(0|[1-9]\d{0,8})(\.\d{1,2})?$/

/** Whether a record matches a filter. A value of another form matches: another rule reports it. */
function matches(name: string, filter: unknown, record: unknown): boolean {
  if (filter === undefined) return true
  const [member, isWithin] = BOUNDS[name] ?? [name]
  const isOfDebtor = name === 'debtorReference' && membersOf(record).debtor !== undefined
  const value = textAt(isOfDebtor ? membersOf(record).debtor : record, member)
  if (value === undefined) return !(name === 'debtorReference')
  if (isWithin === undefined) return [filter].flat().includes(value)
  return (member === 'amount' && !AMOUNT.test(value)) || isWithin(value, String(filter))
}

/** Makes the rules of the filters of a list: each record of the answer matches. */
export const filterRules = (operation: NonNullable<Observation['operation']>): readonly Rule[] =>
  Object.entries(operation.query?.properties ?? {})
    .filter(([name]) => name !== 'limit' && name !== 'cursor')
    .map(([name, schema]) => {
      const label = schema['x-fidelity'] ?? 'assumed'
      return rule(
        `filter ${name}`,
        sourceOf(operation, 'query', name, label),
        [operation.id],
        (observation): Verdict => {
          const filter = observation.filters[name]
          if (!isPage(observation) || filter === undefined || isSpelled(observation)) return undefined
          const isMatch = observation.records.every(record => matches(name, filter, record))
          return verdict(isMatch, 'a record does not match')
        },
      )
    })
