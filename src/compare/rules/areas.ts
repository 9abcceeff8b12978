import { statusOf } from '../../areas/bills/store.js'
import { payoutMethods } from '../../areas/payout-links/methods.js'
import { EXPIRY } from '../../areas/payout-links/store.js'
import { ownMember } from '../../core/own-member.js'
import { branches } from '../../core/rules/branches.js'
import { isIban } from '../../core/rules/identifiers.js'
import { parseAmount } from '../../core/rules/money.js'
import type { Region } from '../../core/rules/regions.js'
import { CURRENCY_OF, REGIONS, regionOf } from '../../core/rules/regions.js'
import { parseDuration } from '../../core/time/duration.js'
import { localDate, parseInstant } from '../../core/time/time.js'
import type { History } from '../history.js'
import type { Observation } from '../observations.js'
import { isSound } from '../observations.js'
import type { Guard, Rule, Source, Verdict } from '../rule.js'
import { assumed, documented, guard, hasFaults, rule, verdict } from '../rule.js'
import { membersOf, textAt } from '../values.js'
import { isAbsent } from './general.js'
import { ofRecords, READS } from './records.js'

const isRegion = (region: string): region is Region => REGIONS.includes(region as Region)

/** The service has an operation whose path it does not document. */
const path = (id: string, source: Source, operation: string): Rule =>
  rule(id, source, [operation], observation => {
    if (isAbsent(observation)) return { why: `answered with ${observation.status}` }
    return observation.isAccepted ? 'holds' : undefined
  })

/** Reads a table without its prototype. */
const at = <T>(table: Readonly<Record<string, T>>, key: unknown): T | undefined =>
  typeof key === 'string' ? ownMember(table, key) : undefined

const isAmount = (value: unknown): value is string =>
  typeof value === 'string' && /^(0|[1-9]\d{0,8})(\.\d{1,2})?$/.test(value)

/** A value that the answer to a valid request has where the request does not give it, or in any case. */
const given = (
  id: string,
  sentence: readonly [section: number, text: string],
  operation: string,
  member: string,
  expected: (observation: Observation) => unknown,
): Rule =>
  rule(id, assumed(...sentence), [operation], observation => {
    const [record] = observation.records
    if (record === undefined || hasFaults(observation) || !isSound(observation, member)) return undefined
    const value = expected(observation)
    return value === undefined || observation.content.faults.has(member)
      ? undefined
      : verdict(record[member] === value, `another ${member}`, record[member])
  })

const stateOf = (kind: string, observation: Observation, history: History) =>
  history.find(kind, Object.values(observation.params)[0], observation)?.status

// --------------------------------------------------------------------------------------------------------- mandates

const mandateGuards: readonly Guard[] = [
  guard(
    'frequency of a ONE_OFF mandate',
    assumed(7, '| `frequency` | WEEKLY, MONTHLY, QUARTERLY, SEMI_ANNUAL or ANNUAL. Only with RECURRING |'),
    ['createMandate'],
    ['values', 'INVALID_FIELD'],
    ({ input }) => input.type === 'ONE_OFF' && input.frequency !== undefined,
  ),
  guard(
    'cancellation of another mandate',
    assumed(7, 'Returns 409 MANDATE_NOT_ACTIVE for DELETE of any other mandate.'),
    ['cancelMandate'],
    ['state', 'MANDATE_NOT_ACTIVE'],
    (observation, { history }) =>
      ['CANCELLED', 'EXPIRED', 'FAILED'].includes(stateOf('mandates', observation, history) ?? ''),
  ),
]

const mandateRules: readonly Rule[] = [
  given('new mandate', [7, 'Sets a new mandate to ACTIVE.'], 'createMandate', 'status', () => 'ACTIVE'),
  given(
    'signatureDate',
    [7, '| `signatureDate` | Default: today |'],
    'createMandate',
    'signatureDate',
    ({ input, records }) => {
      const now = parseInstant(textAt(records[0], 'createdAt') ?? '')
      return input.signatureDate === undefined && now !== undefined ? localDate(now, 'Europe/Berlin') : undefined
    },
  ),
  rule(
    'cancelled mandate',
    documented(
      'Mandate',
      '| active | `DELETE /api/v1/mandates/{mandateReference}` | The mandate is active | CANCELLED | None stated |',
    ),
    ['cancelMandate'],
    observation => {
      const status = textAt(observation.records[0], 'status')
      if (status === undefined || !isSound(observation, 'status')) return undefined
      return verdict(status === 'CANCELLED', `${status} after its cancellation`)
    },
  ),
]

// ----------------------------------------------------------------------------------------------------- payout links

const CREATE_LINK = ['createPayoutLink']
const CANCEL_LINK = ['cancelPayoutLink']

const secondsOf = (input: Observation['input']) => parseDuration(textAt(input, 'expiryPeriod') ?? '')
const modeOf = ({ input }: Observation) => (input.uiMode === 'embedded' ? 'embedded' : 'hosted')

/** The lifetime of a link is out of the range of its mode. */
const outOfRange = (mode: 'embedded' | 'hosted'): Guard['applies'] => {
  const [least, most] = [EXPIRY[mode].least, EXPIRY[mode].most].map(parseDuration) as [number, number]
  return observation => {
    const lifetime = secondsOf(observation.input)
    return modeOf(observation) === mode && lifetime !== undefined && (lifetime < least || lifetime > most)
  }
}

const isOfRegion = ({ region, input }: Observation) => isRegion(region) && input.currency === CURRENCY_OF[region]

const linkGuards: readonly Guard[] = [
  guard(
    'method of another region',
    assumed(8, '| Method | Region, currency | A claim requires | PAID after | Limit |'),
    CREATE_LINK,
    ['values', 'PAYOUT_METHOD_MISMATCH'],
    observation => {
      const method = at(payoutMethods, observation.input.payoutMethod)
      if (!isRegion(observation.region) || method === undefined) return undefined
      return isOfRegion(observation) && method.region !== observation.region
    },
  ),
  guard(
    'limit of a method',
    assumed(8, '| UK-FAST | UK GBP | Name, SORT, 8-digit account | 10 s | 1000000.00 |'),
    CREATE_LINK,
    ['values', 'AMOUNT_LIMIT_EXCEEDED'],
    ({ input, region }) => {
      const method = at(payoutMethods, input.payoutMethod)
      if (method?.region !== region || !isAmount(input.amount)) return undefined
      return parseAmount(input.amount) > parseAmount(method.limit)
    },
  ),
  guard(
    'expiryPeriod of an embedded link',
    documented('Other endpoints (method and path only)', 'Accepts `expiryPeriod` from pt10m to pt12h.'),
    CREATE_LINK,
    ['values', 'INVALID_FIELD'],
    outOfRange('embedded'),
  ),
  guard(
    'expiryPeriod of a hosted link',
    assumed(8, '| hosted | PT10M to P30D | P7D |'),
    CREATE_LINK,
    ['values', 'INVALID_FIELD'],
    outOfRange('hosted'),
  ),
  guard(
    'link that is cancelled',
    assumed(8, '| CANCELLED | 409 PAYOUT_LINK_NOT_CANCELLABLE. The first comment stays |'),
    CANCEL_LINK,
    ['state', 'PAYOUT_LINK_NOT_CANCELLABLE'],
    (observation, { history }) => stateOf('payout-links', observation, history) === 'CANCELLED',
  ),
]

const linkRules: readonly Rule[] = [
  path(
    'path of payout links',
    assumed(8, '`POST /api/v1/payout-links` (the path is not documented).'),
    'createPayoutLink',
  ),
  given('new link', [8, 'ACTIVE → CLAIMED → PROCESSING → PAID.'], 'createPayoutLink', 'status', () => 'ACTIVE'),
  rule(
    'default of uiMode',
    documented(
      'Other endpoints (method and path only)',
      '| hosted (default) | Renders a full-page checkout that the service hosts |',
    ),
    CREATE_LINK,
    observation => {
      const [record] = observation.records
      if (record === undefined || observation.input.uiMode !== undefined || !isSound(observation, 'uiMode'))
        return undefined
      return verdict(record.uiMode === 'hosted', 'another uiMode', record.uiMode)
    },
  ),
  ...(['embedded', 'hosted'] as const).map(mode =>
    given(
      `default of expiryPeriod, ${mode}`,
      [8, mode === 'embedded' ? '| embedded | PT10M to PT12H `[D]` | PT1H |' : '| hosted | PT10M to P30D | P7D |'],
      'createPayoutLink',
      'expiryPeriod',
      observation =>
        observation.input.expiryPeriod === undefined && modeOf(observation) === mode
          ? EXPIRY[mode].byDefault
          : undefined,
    ),
  ),
  rule(
    'expiresAt',
    assumed(8, '**Expiry.** `expiryPeriod` is an ISO 8601 duration. Case is ignored.'),
    CREATE_LINK,
    observation => {
      const [record] = observation.records
      const [created, expires] = ['createdAt', 'expiresAt'].map(name => parseInstant(textAt(record, name) ?? ''))
      const lifetime = parseDuration(textAt(record, 'expiryPeriod') ?? '')
      if (created === undefined || expires === undefined || lifetime === undefined) return undefined
      const isRight = Math.abs(expires - created - lifetime * 1000) <= 2000
      return verdict(isRight, 'not createdAt and expiryPeriod', record?.expiresAt)
    },
  ),
  rule(
    'embedded link without origin',
    assumed(8, '`origin` (scheme, host, port) is optional, because the documented request names no member for it.'),
    CREATE_LINK,
    ({ input, isAccepted }) =>
      input.uiMode === 'embedded' && input.origin === undefined && isAccepted ? 'holds' : undefined,
  ),
  rule(
    'origin that is not allowed',
    assumed(8, 'Returns 403 ORIGIN_NOT_ALLOWED for a given `origin` that does not match the list.'),
    CREATE_LINK,
    ({ input, code }) => (input.origin !== undefined && code === 'ORIGIN_NOT_ALLOWED' ? 'holds' : undefined),
  ),
  rule(
    'cancellation of an active link',
    assumed(8, '| ACTIVE, REJECTED, EXPIRED | 204. The link becomes CANCELLED |'),
    CANCEL_LINK,
    (observation, { history }) => {
      if (stateOf('payout-links', observation, history) !== 'ACTIVE') return undefined
      // The recipient may have claimed it.
      if (observation.isAccepted) return 'holds'
      return observation.code === 'PAYOUT_LINK_NOT_CANCELLABLE' ? { why: 'refused as not cancellable' } : undefined
    },
  ),
  rule(
    'cancellation of a claimed link',
    assumed(8, '| CLAIMED, PROCESSING, PAID, FAILED (claimed or later) | 409 PAYOUT_LINK_ALREADY_CLAIMED |'),
    CANCEL_LINK,
    ({ code, status }) => (code === 'PAYOUT_LINK_ALREADY_CLAIMED' && status === 409 ? 'holds' : undefined),
  ),
]

// ------------------------------------------------------------------------------------------------------------ bills

const UPDATE_BILL = ['updateBill']

/** The amounts of a bill before an update. */
function billOf(observation: Observation, history: History) {
  const known = history.find('bills', observation.params.uniqueReferenceIdentifier, observation)
  const { totalAmount, openAmount } = known?.record ?? {}
  return isAmount(totalAmount) && isAmount(openAmount) ? { totalAmount, openAmount, status: known?.status } : undefined
}

/** Returns the state of an amount; undefined: it is above the total. */
function stateOfAmount(openAmount: string, totalAmount: string): string | undefined {
  return parseAmount(openAmount) > parseAmount(totalAmount) ? undefined : statusOf(openAmount, totalAmount)
}

const billGuards: readonly Guard[] = [
  guard(
    'openAmount above totalAmount',
    assumed(9, '| `openAmount` | Default: `totalAmount` |'),
    ['createBill'],
    ['values', 'INVALID_FIELD'],
    ({ input: { openAmount, totalAmount } }) =>
      isAmount(openAmount) && isAmount(totalAmount) && parseAmount(openAmount) > parseAmount(totalAmount),
  ),
  guard(
    'contradiction',
    assumed(9, 'PATCH returns INCONSISTENT_BILL_UPDATE for a contradiction.'),
    UPDATE_BILL,
    ['state', 'INCONSISTENT_BILL_UPDATE'],
    (observation, { history }) => {
      const bill = billOf(observation, history)
      const { status, openAmount = status === 'PAID' ? '0' : bill?.openAmount } = observation.input
      if (bill === undefined || bill.status === 'CANCELLED' || status === undefined || !isAmount(openAmount))
        return false
      if (status === 'CANCELLED') return observation.input.openAmount !== undefined
      return stateOfAmount(openAmount, bill.totalAmount) !== status
    },
  ),
  guard(
    'cancelled bill',
    assumed(9, 'The fourth status is CANCELLED. It is final.'),
    ['updateBill', 'uploadBillDocument'],
    ['state', 'BILL_CANCELLED'],
    (observation, { history }) => {
      const bill = billOf(observation, history)
      // An update that contradicts the bill is refused for that.
      const isPlain = observation.input.status === undefined && observation.input.openAmount === undefined
      return bill?.status === 'CANCELLED' && isPlain
    },
  ),
]

const billStatus = (status: string, sentence: string): Rule =>
  rule(`status ${status} of a bill`, assumed(9, sentence), READS.bills, (observation, context) =>
    ofRecords((bill): Verdict => {
      const { openAmount, totalAmount } = bill
      const isKnown = ['status', 'openAmount', 'totalAmount'].every(name => isSound(observation, name))
      if (!isKnown || bill.status === 'CANCELLED' || !isAmount(openAmount) || !isAmount(totalAmount)) return undefined
      if (stateOfAmount(openAmount, totalAmount) !== status) return undefined
      return verdict(bill.status === status, `${bill.status} by its openAmount`)
    })(observation, context),
  )

const billRules: readonly Rule[] = [
  billStatus('OPEN', '| Equal to the total | OPEN |'),
  billStatus('PARTIALLY_PAID', '| Between 0 and the total | PARTIALLY_PAID |'),
  billStatus('PAID', '| 0 | PAID |'),
  given(
    'openAmount of a new bill',
    [9, '| `openAmount` | Default: `totalAmount` |'],
    'createBill',
    'openAmount',
    o => o.input.openAmount ?? o.input.totalAmount,
  ),
  given(
    'openAmount of a paid bill',
    [9, 'PATCH with `status: PAID` and no `openAmount` sets `openAmount` to `0`.'],
    'updateBill',
    'openAmount',
    ({ input }) => input.openAmount ?? (input.status === 'PAID' ? '0' : undefined),
  ),
  given(
    'status of an update',
    [9, 'PATCH accepts `status`, `openAmount` and `dueDate`, at least one of them. Returns 200.'],
    'updateBill',
    'status',
    // What an amount says of the status is a rule of its own.
    ({ input }) => (input.status === 'CANCELLED' ? 'CANCELLED' : undefined),
  ),
  rule('documents', assumed(9, 'The bill lists its documents.'), ['getBill'], (observation, { history }) => {
    const { uniqueReferenceIdentifier } = observation.params
    const documents = membersOf(observation.records[0]).documents
    const upload = history.uploadOf(uniqueReferenceIdentifier, observation)
    if (upload === undefined || !Array.isArray(documents)) return undefined
    return verdict(
      documents.some(document => membersOf(document).documentId === upload),
      'without an uploaded document',
    )
  }),
]

// ----------------------------------------------------------------------------------------- counterparties, accounts

const counterpartyGuards: readonly Guard[] = [
  guard(
    'other counterpartyReference',
    documented(
      'Other endpoints (method and path only)',
      'Updates accountHolderName, emailAddress, mobileNumber, remarks and address. Never changes counterpartyReference |',
    ),
    ['updateCounterparty'],
    ['values', 'IMMUTABLE_FIELD'],
    ({ input, params }) =>
      typeof input.counterpartyReference === 'string' && input.counterpartyReference !== params.counterpartyReference,
  ),
]

const BRANCHES = documented('Other named fields (from release v1.1.0)', '`branchIdentifier.type` has these values:')

const regionOfRecord = (record: Readonly<Record<string, unknown>>, { region }: Observation): Region | undefined => {
  const isCurrency = Object.values<unknown>(CURRENCY_OF).includes(record.currency)
  if (isCurrency) return regionOf(record.currency as never)
  return isRegion(region) ? region : undefined
}

/** The values of the branches of a type. */
const branchValue = (type: 'BIC' | 'ROUTING' | 'IFSC', sentence: string): Rule =>
  rule(
    `value of ${type}`,
    assumed(10, sentence),
    ['updateCounterparty', 'listAccounts'],
    ofRecords(record => {
      const { type: given, value } = membersOf(record.branchIdentifier)
      const branch = Object.values(branches).find(branch => branch.type === type)
      if (given !== type || typeof value !== 'string' || branch === undefined) return undefined
      return verdict(branch.isValid(value), 'not of this form', value)
    }),
  )

const partyRules: readonly Rule[] = [
  path(
    'path of accounts',
    assumed(10, "**GET /api/v1/accounts** (the path is not documented) lists the tenant's accounts:"),
    'listAccounts',
  ),
  rule(
    'type of a branch',
    BRANCHES,
    ['updateCounterparty', 'listAccounts'],
    ofRecords((record, observation) => {
      const { type, value } = membersOf(record.branchIdentifier)
      const region = regionOfRecord(record, observation)
      const isKnown = Object.values(branches).some(branch => branch.type === type)
      if (region === undefined || !isKnown) return undefined
      const isSort = type !== 'SORT' || typeof value !== 'string' || branches.UK.isValid(value)
      return verdict(
        branches[region].type === type && isSort,
        `another branch than ${branches[region].type} in ${region}`,
      )
    }),
  ),
  branchValue('ROUTING', '| ROUTING | 9 digits, weights 3 7 1, mod 10 = 0, not all zeros |'),
  branchValue('IFSC', '| IFSC | `^[A-Z]{4}0[A-Z0-9]{6}$` |'),
  branchValue('BIC', '| BIC | `^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$` |'),
  rule(
    'IBAN of an account',
    assumed(10, '| IBAN | Checked by the library `ibantools` |'),
    ['listAccounts'],
    ofRecords(({ currency, accountIdentifier }) =>
      currency === 'EUR' && typeof accountIdentifier === 'string'
        ? verdict(isIban(accountIdentifier), 'no IBAN', accountIdentifier)
        : undefined,
    ),
  ),
  rule(
    'accounts of the region',
    assumed(4, '| EU | EUR |'),
    ['listAccounts'],
    ofRecords(({ currency }, observation) =>
      isRegion(observation.region) && typeof currency === 'string' && isSound(observation, 'currency')
        ? verdict(CURRENCY_OF[observation.region] === currency, 'a currency of another region', currency)
        : undefined,
    ),
  ),
  rule(
    'counterparty of a bill',
    assumed(9, 'Creates the counterparty if a bill names an unknown `counterpartyReference`.'),
    ['updateCounterparty'],
    (observation, { history }) => {
      const isNamed = history
        .all('bills')
        .some(
          ({ record, region }) =>
            record.counterpartyReference === observation.params.counterpartyReference && region === observation.region,
        )
      if (!isNamed) return undefined
      if (observation.isAccepted) return 'holds'
      return observation.status === 404 ? { why: 'not found' } : undefined
    },
  ),
]

const MISMATCH = documented('Errors', 'Two belong to bills: a mismatch of region and currency')

const currencyGuards = (
  [
    ['createBill', MISMATCH],
    ['createPayoutLink', assumed(4, '| EU | EUR |')],
  ] as const
).map(([operation, source]) =>
  guard(
    'currency of another region',
    source,
    [operation],
    ['values', 'REGION_CURRENCY_MISMATCH'],
    ({ region, input: { currency } }) =>
      isRegion(region) && typeof currency === 'string' ? currency !== CURRENCY_OF[region] : undefined,
  ),
)

/** Rules and refusals of mandates, payout links, bills, counterparties and accounts (decisions §7 to §10). */
export const areaRules: readonly Rule[] = [...mandateRules, ...linkRules, ...billRules, ...partyRules]
export const areaGuards: readonly Guard[] = [
  ...currencyGuards,
  ...mandateGuards,
  ...linkGuards,
  ...billGuards,
  ...counterpartyGuards,
]
