import { DatabaseSync } from 'node:sqlite'

/**
 * The collections of one tenant in SQLite, as somebody would keep them who knows it well: in memory, the table itself in
 * the order of its lists, an index for each way to ask that also holds what else a condition looks at, so that counting
 * touches no row, and amounts as integers.
 */

const COLUMNS = [
  'collectionReference',
  'scheme',
  'mandateReference',
  'status',
  'amount',
  'currency',
  'debtorName',
  'debtorReference',
  'collectionDate',
  'initiatedAt',
  'updatedAt',
]

const INDEXES = {
  by_time: '(initiated, sequence, cents, status)',
  by_status: '(status, initiated, sequence, cents)',
  by_status_amount: '(status, cents, initiated, sequence)',
  by_scheme: '(scheme, initiated, sequence)',
  by_mandate: '(mandateReference, initiated, sequence, status, cents)',
  by_debtor: '(debtorReference, initiated, sequence, status, cents)',
  by_amount: '(cents, initiated, sequence, status)',
}

/** @param {Iterable<object>} records as the API shows them, oldest first */
export function createDatabase(records) {
  const database = new DatabaseSync(':memory:')
  database.exec(`
    PRAGMA temp_store = MEMORY;
    CREATE TABLE collections (
      initiated INTEGER NOT NULL, sequence INTEGER NOT NULL, cents INTEGER NOT NULL,
      ${COLUMNS.map(column => `${column} TEXT`).join(', ')},
      PRIMARY KEY (initiated, sequence)
    ) WITHOUT ROWID, STRICT`)
  const insert = database.prepare(
    `INSERT INTO collections VALUES (${['?', '?', '?', ...COLUMNS.map(() => '?')].join(', ')})`,
  )
  database.exec('BEGIN')
  let sequence = 0
  for (const record of records) {
    const values = COLUMNS.map(column => record[column])
    insert.run(Date.parse(record.initiatedAt), ++sequence, centsOf(record.amount), ...values)
  }
  database.exec('COMMIT')
  database.exec('CREATE UNIQUE INDEX by_reference ON collections (collectionReference)')
  for (const [name, columns] of Object.entries(INDEXES)) {
    database.exec(`CREATE INDEX ${name} ON collections ${columns}`)
  }
  database.exec('ANALYZE')
  return database
}

const centsOf = amount => Math.round(Number(amount) * 100)

/**
 * The conditions of a list call.
 * @param {object} query
 * @param {{ initiated: number, sequence: number }} [after] what its cursor stands for
 */
function conditionsOf(query, after) {
  const conditions = []
  const parameters = []
  const add = (condition, ...values) => {
    conditions.push(condition)
    parameters.push(...values)
  }
  const among = (column, values) =>
    values.length === 1
      ? add(`${column} = ?`, values[0])
      : add(`${column} IN (${values.map(() => '?').join(', ')})`, ...values)
  if (query.status) among('status', query.status)
  if (query.scheme) among('scheme', query.scheme)
  if (query.mandateReference) add('mandateReference = ?', query.mandateReference)
  if (query.debtorReference) add('debtorReference = ?', query.debtorReference)
  if (query.initiatedFrom) add('initiated >= ?', Date.parse(query.initiatedFrom))
  if (query.initiatedTo) add('initiated <= ?', Date.parse(query.initiatedTo))
  if (query.amountMin) add('cents >= ?', centsOf(query.amountMin))
  if (query.amountMax) add('cents <= ?', centsOf(query.amountMax))
  // All that match count, wherever the page begins.
  const ofCount = { where: whereOf(conditions), parameters: [...parameters] }
  if (after) add('(initiated, sequence) < (?, ?)', after.initiated, after.sequence)
  return { ofCount, ofPage: { where: whereOf(conditions), parameters } }
}

const whereOf = conditions => (conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`)

const countBy = (where, hint) => `SELECT COUNT(*) AS n FROM collections ${hint} ${where}`
const pageBy = (where, hint) =>
  `SELECT ${COLUMNS.join(', ')} FROM collections ${hint} ${where} ORDER BY initiated DESC, sequence DESC LIMIT 101`

/** The planner's own choice, the table itself, and each index that a statement can use. */
const HINTS = ['', 'NOT INDEXED', ...Object.keys(INDEXES).map(name => `INDEXED BY ${name}`)]

/**
 * Tries every index, and takes the fastest: the planner does not know how amounts are spread.
 * @param {readonly { query: object, after?: { initiated: number, sequence: number } }[]} variants of one query
 */
export function chooseHints(database, variants) {
  const conditions = variants.map(({ query, after }) => conditionsOf(query, after))
  return {
    count: fastestHint(
      database,
      countBy,
      conditions.map(({ ofCount }) => ofCount),
    ),
    page: fastestHint(
      database,
      pageBy,
      conditions.map(({ ofPage }) => ofPage),
    ),
  }
}

function fastestHint(database, sqlOf, variants) {
  let best = { hint: '', ms: Number.POSITIVE_INFINITY }
  for (const hint of HINTS) {
    let calls
    try {
      calls = variants.map(({ where, parameters }) => {
        const statement = database.prepare(sqlOf(where, hint))
        return () => statement.all(...parameters)
      })
    } catch {
      // This index cannot answer it.
      continue
    }
    const run = () => {
      for (const call of calls) call()
    }
    run()
    const began = performance.now()
    run()
    const ms = performance.now() - began
    // The planner's choice stays where another is hardly better.
    if (ms < 0.9 * best.ms) best = { hint, ms }
  }
  return best.hint
}

/**
 * Prepares a list call.
 * @returns {() => { totalCount: number, hasMore: boolean, data: object[] }}
 */
export function prepareList(database, query, after, hints) {
  const { ofCount, ofPage } = conditionsOf(query, after)
  const count = database.prepare(countBy(ofCount.where, hints.count))
  const page = database.prepare(pageBy(ofPage.where, hints.page))
  return () => {
    const { n } = count.get(...ofCount.parameters)
    const data = page.all(...ofPage.parameters)
    const hasMore = data.length > 100
    if (hasMore) data.pop()
    return { totalCount: n, hasMore, data }
  }
}
