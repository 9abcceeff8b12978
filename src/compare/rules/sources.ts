import type { Operation } from '../contract.js'
import { isList } from '../contract.js'
import type { Source } from '../rule.js'
import { assumed, documented } from '../rule.js'

/** The sentences about the members of an area. A row of a table holds for the member that it begins with, and all within. */
interface Sentences {
  /** The rows of members that the service documents, and of those that the sandbox assumes. */
  readonly documented: readonly Source[]
  readonly assumed: readonly Source[]
  /** The sentences of members without a row, and of assumed parameters of the list. */
  readonly others: Source
  readonly filters?: Source
  /** The values of x-region, where the service documents them, and where it does not. */
  readonly regions: readonly [documented: Source, assumed: Source]
}

const rows = (place: string, ...sentences: string[]) => sentences.map(sentence => documented(place, sentence))
const rowsOf = (section: number, ...sentences: string[]) => sentences.map(sentence => assumed(section, sentence))

const NAMED = 'Other named fields (from release v1.1.0)'
const SUMMARY = rows(
  'Collection request summary (element of `data` in the list response)',
  '| `collectionReference` | string | yes | Unique reference that the caller chooses. Letters, digits and hyphens only. Length 5-50.',
  '| `scheme` | string | yes | Allowed value: SEPA |',
  '| `mandateReference` | string | yes | Unique mandate reference that the caller provides. Length 5-50.',
  '| `status` | string | yes | One of PENDING, SUBMITTED, PROCESSING, SETTLED, FAILED, CANCELLED, RETURNED, REJECTED',
  '| `amount` | string | yes | Decimal string from 1 to 999999999.99, at most 2 decimal places, no leading zeros.',
  '| `currency` | string | yes | ISO 4217 code. Allowed value: EUR (SEPA always uses EUR) |',
  '| `debtorName` | string | yes | Full legal name of the debtor |',
  "| `debtorReference` | string | no | The caller's internal reference for the debtor. Length 1-100 |",
  '| `collectionDate` | string | yes | Settlement date, format date (YYYY-MM-DD).',
  '| `initiatedAt` | string | yes | Date-time of the initiation. ISO 8601 UTC with trailing Z, form YYYY-MM-DDThh:mm:ssZ |',
  '| `updatedAt` | string | yes | Date-time of the last update, in the format of `initiatedAt` |',
)
const ENVELOPE = rows(
  'Collection list envelope',
  '| `totalCount` | integer | yes | Count of the records that match the filters, over all pages |',
  '| `hasMore` | boolean | yes | true if further pages follow this response |',
  '| `nextCursor` | string | no | Opaque cursor of the next page. null when `hasMore` is false |',
  '| `data` | array of collection request summary | yes | Records of this page |',
)
const PAGES = assumed(5, 'Uses one envelope for all lists: `totalCount`, `hasMore`, `nextCursor`, `data`.')
const OTHERS = 'Other endpoints (method and path only)'
const REGIONS = documented(
  'What the service does',
  'Its values are EU, IN, US and UK. Each endpoint accepts a subset of them',
)
const MANDATORY = documented(
  'What the service does',
  'Requests to business endpoints require the routing header `x-region`.',
)
const ANY_REGION = assumed(4, '| bills, counterparties, accounts | EU, IN, US, UK |')
const EU_ONLY = assumed(4, '| direct-debit, mandates | EU |')

const oauth: Sentences = {
  documented: [
    ...rows(
      'Access token response (object)',
      '| `access_token` | string | yes | The token that the authorization server issued |',
      '| `expires_in` | integer | yes | Token lifetime in seconds |',
      '| `scope` | string | yes | Token scope |',
      '| `token_type` | string | yes | Type of the issued token |',
    ),
    ...rows(
      'POST /api/v1/oauth/token',
      '| `client_id` | string | yes | Client ID |',
      '| `client_secret` | string | yes | Client secret |',
      '| `grant_type` | string | yes | Only allowed value: client_credentials |',
    ),
  ],
  assumed: [],
  others: assumed(3, 'Returns 400 for a missing, empty or repeated parameter.'),
  regions: [REGIONS, REGIONS],
}

const collections: Sentences = {
  documented: [
    ...SUMMARY,
    ...ENVELOPE,
    ...rows(
      'GET /api/v1/direct-debit',
      '| `cursor` | string | The `nextCursor` of a previous response. Omitted for the first page |',
      '| `limit` | integer | Records per page. Minimum 1, maximum 500, default 100 |',
      '| `scheme` | array | Filters by payment scheme. SEPA is the only scheme |',
      '| `status` | array | Filters by collection status',
      '| `mandateReference` | string | Length 5-50. Pattern `^[a-zA-Z0-9\\-]+$` |',
      "| `debtorReference` | string | Filters by the caller's reference for the debtor. Length 1-100 |",
      '| `initiatedFrom` | string | date-time, inclusive lower bound of the initiation. Form YYYY-MM-DDThh:mm:ssZ |',
      '| `initiatedTo` | string | date-time, inclusive upper bound of the initiation. Same form |',
      '| `amountMin` | number (double) | Amount at or above this value. Minimum 0.01 |',
      '| `amountMax` | number (double) | Amount at or below this value. Minimum 0.01 |',
    ),
  ],
  assumed: rowsOf(
    6,
    '| `collectionReference`* | |',
    '| `mandateReference`* | |',
    '| `amount`* | |',
    '| `currency`* | EUR |',
    '| `collectionDate`* | See below |',
    '| `scheme` | Default SEPA |',
    "| `debtorName` | Default: the mandate's |",
    "| `debtorReference` | Default: the mandate's |",
  ),
  others: assumed(6, 'Returns 201 with the record: the documented summary plus `reasonCode`.'),
  regions: [
    documented('GET /api/v1/direct-debit', '| `x-region` | string | yes | Routing header. Allowed value: EU |'),
    EU_ONLY,
  ],
}

const mandates: Sentences = {
  documented: [
    SUMMARY[2] as Source,
    documented(
      NAMED,
      '| Mandate | `mode` (CORE only), `type` (RECURRING or ONE_OFF), `frequency` (optional), creditor `bankIdentifier` (carries the SEPA Creditor Identifier',
    ),
  ],
  assumed: rowsOf(
    7,
    '| `mandateReference`* | 5-50, the documented pattern |',
    '| `type`* | RECURRING or ONE_OFF |',
    '| `mode` | CORE |',
    '| `scheme` | SEPA |',
    '| `currency` | EUR |',
    '| `frequency` | WEEKLY, MONTHLY, QUARTERLY, SEMI_ANNUAL or ANNUAL. Only with RECURRING |',
    '| `signatureDate` | Default: today |',
    '| `creditor`* | `name`*, `bankIdentifier`* |',
    '| `creditor.bankIdentifier` | `type`: CREDITOR_IDENTIFIER. `value`: a SEPA Creditor Identifier with correct check digits.',
    '| `debtor`* | `name`*, `iban`* of a SEPA country, `bic`, `reference` 1-100, `emailAddress` |',
  ),
  others: assumed(7, 'Returns 201 with the record: these members, `status`, `createdAt` and `updatedAt`.'),
  filters: assumed(5, '| GET /api/v1/mandates | `status`, `type`, `debtorReference` |'),
  regions: [documented(OTHERS, '| POST | /api/v1/mandates | Creates a SEPA mandate. Region EU only |'), EU_ONLY],
}

const CANCEL = 'PATCH /api/v1/payout-links/{payoutLinkId}/cancel'
const payoutLinks: Sentences = {
  documented: [
    documented(CANCEL, '| Body (`application/json`) | `cancellationComment`, required, string, length 1-256 |'),
    documented(
      NAMED,
      '| Payout link | `accountHolderName` (optional, on creation), `payoutMethod` (SEPA-CT, SEPA-INSTANT, US-ACH, UK-BACS, UK-FAST), `uiMode` (hosted by default, or embedded), `expiryPeriod`, `currency` (EUR, USD, GBP) |',
    ),
  ],
  assumed: rowsOf(
    8,
    '| `amount`* | |',
    '| `currency`* | EUR, USD or GBP |',
    '| `payoutMethod`* | See the table below |',
    '| `counterpartyReference` | |',
    '| `accountHolderName` | 1-140 |',
    '| `uiMode` | hosted or embedded. Default hosted |',
    '| `expiryPeriod` | See below |',
    '| `origin` | See below |',
    '| `remarks` | 1-256 |',
  ),
  others: assumed(
    8,
    'Returns 201 with these members, `payoutLinkId`, `status`, `url`, `expiresAt`, `createdAt` and `updatedAt`.',
  ),
  regions: [documented(CANCEL, '| Header `x-region` | string, required. Allowed values: EU, US, UK |'), ANY_REGION],
}

const bills: Sentences = {
  documented: [
    documented(
      NAMED,
      "| Bill | `uniqueReferenceIdentifier` (the tenant's reference, which identifies the bill). Named attributes: status, type, cashflowType, counterpartyReference, open amount, due date |",
    ),
  ],
  assumed: rowsOf(
    9,
    '| `uniqueReferenceIdentifier`* | `^[A-Za-z0-9_-]{3,64}$` |',
    '| `type`* | INVOICE, CREDIT_NOTE or DEBIT_NOTE |',
    '| `cashflowType`* | INFLOW or OUTFLOW |',
    '| `counterpartyReference`* | 5-50 |',
    '| `currency`* | |',
    '| `totalAmount`* | |',
    '| `openAmount` | Default: `totalAmount` |',
    '| `issueDate` | |',
    '| `dueDate`* | |',
    '| `description` | 1-256 |',
  ),
  others: assumed(9, 'POST returns 201.'),
  filters: assumed(
    5,
    '| GET /api/v1/bills | `status`, `type`, `cashflowType`, `counterpartyReference`, `dueDateFrom`, `dueDateTo` |',
  ),
  regions: [documented(OTHERS, '| POST | /api/v1/bills | Ingests a bill. Regions EU, IN, US, UK |'), ANY_REGION],
}

const counterparties: Sentences = {
  documented: [
    documented(
      NAMED,
      '| Counterparty | `counterpartyReference` (immutable), `accountHolderName`, `emailAddress`, `mobileNumber`, `remarks`, `address`, `branchIdentifier` with a field `type` |',
    ),
  ],
  assumed: rowsOf(
    10,
    '| `accountHolderName` | 1-140 |',
    '| `emailAddress` | |',
    '| `mobileNumber` | E.164 |',
    '| `remarks` | 1-256 |',
    '| `address` | `line1`*, `line2`, `city`*, `postalCode`, `state`, `country`* (ISO 3166 alpha-2) |',
  ),
  others: assumed(10, '**PATCH counterparty** requires at least one of these members. Returns 200 with the record.'),
  regions: [REGIONS, ANY_REGION],
}

const accounts: Sentences = {
  documented: [],
  assumed: [],
  others: assumed(10, "**GET /api/v1/accounts** (the path is not documented) lists the tenant's accounts:"),
  filters: assumed(5, '| GET /api/v1/accounts | `currency` |'),
  regions: [REGIONS, ANY_REGION],
}

const byPath: Readonly<Record<string, Sentences>> = {
  'direct-debit': collections,
  mandates,
  'payout-links': payoutLinks,
  bills,
  counterparties,
  accounts,
}

/** The member that a row is about, such as `amount` of `` | `amount`* | | ``. */
const ROW = /^\| (?:Body \S+ \| )?`?([\w.]+)`?\*?(?: \||, required)/

/** Returns the sentence of the values of a member of an operation. */
export function sourceOf(
  operation: Operation,
  place: 'header' | 'query' | 'body' | 'answer',
  path: string,
  label: Source['label'],
): Source {
  const sentences = operation.kind === undefined ? oauth : (byPath[operation.kind.path] as Sentences)
  if (place === 'header') return sentences.regions[label === 'documented' ? 0 : 1]
  if (place === 'query' && label === 'assumed') return sentences.filters ?? sentences.others
  const isEnvelope = place === 'answer' && isList(operation) && !path.startsWith('data.')
  if (isEnvelope && label === 'assumed') return PAGES

  // A query has rows of its own, which come last.
  const sources = place === 'query' ? [...sentences[label]].reverse() : sentences[label]
  for (let name = path.replace(/^data\./, ''); name !== ''; name = name.slice(0, Math.max(name.lastIndexOf('.'), 0))) {
    const row = sources.find(({ sentence }) => ROW.exec(sentence)?.[1] === name)
    if (row !== undefined) return row
  }
  return label === 'documented' ? (sentences.documented.at(-1) as Source) : sentences.others
}

/** The sentence that x-region is required. */
export const REQUIRED_REGION = MANDATORY
/** The sentence that a list has no other members, or a record. */
export const onlyMembersOf = (operation: Operation): Source =>
  operation.id === 'issueToken'
    ? assumed(3, 'Returns 200 with these members:')
    : operation.id === 'listCollections'
      ? assumed(6, 'The list shows only the summary.')
      : sourceOf(operation, 'answer', 'data.', 'assumed')
