/// <reference lib="esnext.disposable" preserve="true" />

/**
 * All that the package's users see of it, by type. Nothing here is imported from elsewhere, so that the declarations
 * stand by themselves; a test holds them against the schemas of the server.
 *
 * A moment is a text of the form `YYYY-MM-DDThh:mm:ssZ`, a date `YYYY-MM-DD`, a duration ISO 8601 without years and
 * months (`P3D`, `PT90M`), an amount a decimal text.
 */

// -------------------------------------------------------------------------------------------------------- the sandbox

/** What `createSandbox` can be asked for. */
export interface SandboxOptions {
  /** What ids and tokens are made from; the same unless you say otherwise, so that a run repeats exactly. */
  readonly seed?: string | undefined
  /** A moment, at which every client's clock starts frozen; `real` (default): clocks run with the real time. */
  readonly clock?: string | undefined
  /** The world that the sandbox's own client starts from: `empty` (default), `demo`, or one out of `fixtures`. */
  readonly fixture?: string | undefined
  /** A folder of fixtures beside the package's own. */
  readonly fixtures?: string | undefined
  /** The client id of the application under test: 1 to 64 letters, digits, dots, underscores or hyphens. */
  readonly clientId?: string | undefined
  /** The secret that goes with it. */
  readonly clientSecret?: string | undefined
  /** Settings of the client that are not at their default; a `reset()` comes back to them. */
  readonly settings?: Partial<Settings> | undefined
  /** How long a token lives, in seconds of the client's clock; 3600 unless you say otherwise. */
  readonly tokenLifetime?: number | undefined
  /** Where to listen on 127.0.0.1; a free port unless you say otherwise. */
  readonly port?: number | undefined
  /** What calls of the control plane must carry; the sandbox's own calls do. */
  readonly adminToken?: string | undefined
  /** How much is kept. */
  readonly bounds?: SandboxBounds | undefined
}

/** The bounds of what a server keeps. */
export interface SandboxBounds {
  /** The most requests in the log of one client; 1000 unless you say otherwise. */
  readonly journalEntries?: number | undefined
  /** The most bytes of all request logs together; 16 MiB unless you say otherwise. */
  readonly journalBytes?: number | undefined
  /** The most bytes of all recordings together, 0: nothing is recorded; 32 MiB unless you say otherwise. */
  readonly recordingBytes?: number | undefined
  /** The most clients; 2000 unless you say otherwise. Beyond that the one idle longest makes room. */
  readonly maxTenants?: number | undefined
}

/** Which server and which of its clients `connectSandbox` is to reach. */
export interface ConnectOptions {
  /** Where the server is, such as `http://127.0.0.1:8080`; a `URL` will do, too. */
  readonly url: string | { readonly href: string }
  /** The server's SANDBOX_ADMIN_TOKEN, if it has one. */
  readonly adminToken?: string | undefined
  /** The client to act on; `sandbox-client`, the one with the demo world, unless you say otherwise. */
  readonly clientId?: string | undefined
  /** The secret that goes with it. */
  readonly clientSecret?: string | undefined
}

/**
 * A client of a sandbox server: what your application needs to reach it, and hold of its world. All that is done here
 * concerns this one client; it goes over HTTP, be the server in this process or elsewhere.
 *
 * Every call can reject with a `SandboxError`.
 */
export interface Sandbox {
  /** Where the server is, without a trailing slash: your application asks `${url}/api/v1/…`. */
  readonly url: string
  /** Your application's `client_id`. */
  readonly clientId: string
  /** Your application's `client_secret`. */
  readonly clientSecret: string
  /** The client's own time. */
  readonly clock: Clock
  /** What goes wrong on purpose. */
  readonly faults: Faults
  /** What the application has sent and got. */
  readonly requests: Requests
  /** What has become of the client's records. */
  readonly events: Events
  /** Hold of single collections. */
  readonly collections: Collections
  /** Hold of single mandates. */
  readonly mandates: Mandates
  /** Hold of single payout links. */
  readonly payoutLinks: PayoutLinks
  /** Hold of single bills. */
  readonly bills: Bills
  /** Which operations tell that they are deprecated. */
  readonly deprecations: Deprecations
  /** An access token, fresh each time. The request for it is in the log like any other. */
  token(): Promise<string>
  /** Expires every token that the client has been given. */
  expireTokens(): Promise<void>
  /** Adds records, all or nothing: those of a fixture, or given ones, in any state. */
  seed(what: string | SeedRecords): Promise<SeedResult>
  /** Changes settings; what is left out stays. Resolves to all of them. */
  settings(changes?: Partial<Settings>): Promise<Settings>
  /** Puts the client back to where it started: records, clock, ids, settings, faults, requests, events, tokens. */
  reset(): Promise<ResetResult>
  /** The whole client as one document. */
  state(): Promise<State>
  /** Puts a state document in place of all that the client has, all or nothing. */
  restore(state: State): Promise<ResetResult>
  /**
   * Another client that starts as an exact copy of this one, with the same secret; from then on neither touches the
   * other. Without an id it gets one that nobody has.
   */
  fork(clientId?: string): Promise<Sandbox>
  /** What changed the client since its start: the content of a file for `payments-sandbox replay FILE`. */
  recording(): Promise<Recording>
  /**
   * Lets go: waiting calls reject, streams end, and so it is with forks made here. The server of `createSandbox` ends
   * with the sandbox that it was made for. Closing twice does no harm.
   */
  close(): Promise<void>
  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

/** How many records of each kind. */
export interface Counts {
  mandates: number
  collections: number
  payoutLinks: number
  bills: number
  counterparties: number
  accounts: number
}

/** What a client is after it has been put back. */
export interface ResetResult {
  clientId: string
  fixture: string
  counts: Counts
  /** The client's time. */
  now: string
}

/** What came of seeding. */
export interface SeedResult {
  added: Counts
  counts: Counts
}

/** What a client can change about how its world behaves. */
export interface Settings {
  /** Whether a new mandate is ACTIVE at once, or waits PENDING for `mandates.activate()`. */
  mandateActivation: 'automatic' | 'manual'
  /** Whether `Deprecation` and `Sunset` look as the service documents them, or as RFC 9745 and RFC 8594 have them. */
  deprecationStyle: 'seed' | 'rfc'
  /** The origins that may embed payout links. */
  allowedOrigins: string[]
}

// -------------------------------------------------------------------------------------------------------------- clock

/** The time of one client. */
export interface Clock {
  /** What time it is, and whether it runs. */
  get(): Promise<ClockState>
  /** Stops it. */
  freeze(): Promise<ClockState>
  /** Lets it run. */
  resume(): Promise<ClockState>
  /** Sets the pace of a running clock: 1 to 86400 of its seconds per second. */
  setRate(rate: number): Promise<ClockState>
  /** Moves it forward; all that becomes due happens first, each at its own time. A token may expire on the way. */
  advance(step: ClockStep): Promise<ClockAdvanced>
}

/** A client's time. */
export interface ClockState {
  now: string
  mode: 'running' | 'frozen'
  rate: number
}

/** How far: by a duration, to a moment, or to whatever is due next. */
export type ClockStep =
  | { readonly by: string; readonly to?: never; readonly toNextEvent?: never }
  | { readonly by?: never; readonly to: string; readonly toNextEvent?: never }
  | { readonly by?: never; readonly to?: never; readonly toNextEvent: true }

/** Where the clock has got to, and what happened on the way. */
export interface ClockAdvanced {
  now: string
  transitions: Transition[]
}

// ------------------------------------------------------------------------------------------------------------- faults

/** The faults of one client, in the order in which they were armed. */
export interface Faults {
  /** Arms one. It is refused where it could never fire. */
  arm(fault: FaultRequest): Promise<Fault>
  /** All of them, also those that are spent, with how often each has fired. */
  list(): Promise<Fault[]>
  /** Removes one. */
  remove(id: string): Promise<void>
  /** Removes all; resolves to how many there were. */
  clear(): Promise<number>
}

/** What goes wrong, on which requests, how often. */
export interface FaultRequest {
  /** Which requests it is for; all of the API where it is left out. */
  readonly match?: FaultMatch
  /** How often it fires; null: until it is removed. Once unless you say otherwise. */
  readonly times?: number | null
  /** How many matching requests it lets through first. */
  readonly skip?: number
  /** How likely it fires on a matching request: above 0, at most 1. Seeded, so that a run repeats exactly. */
  readonly probability?: number
  /** How long it stays armed: a duration of real time. */
  readonly ttl?: string
  /** What it does. */
  readonly effect: Effect
}

/** Which requests a fault is for; what is left out does not matter. */
export interface FaultMatch {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'DELETE'
  /** `*` stands for any run of characters. */
  readonly path?: string
  readonly region?: Region
}

/** What a fault does to a request. */
export type Effect = ErrorEffect | DelayEffect | CutEffect | BrokenEffect | DribbleEffect

/** The request is answered with an error, and not applied. */
export interface ErrorEffect {
  readonly kind: 'error'
  /** 400 to 599. */
  readonly status: number
  readonly code?: string
  readonly message?: string
  /** In seconds. */
  readonly retryAfter?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** The answer is late; the request is applied at once. */
export type DelayEffect = { readonly kind: 'delay' } & ({ readonly ms: number | DelayDistribution } | DelayDistribution)

/** How late an answer is, in milliseconds. */
export type DelayDistribution =
  | { readonly distribution: 'uniform'; readonly min: number; readonly max: number }
  | { readonly distribution: 'lognormal'; readonly median: number; readonly sigma: number; readonly max: number }

/** The connection closes (`drop`) or breaks (`reset`) without an answer: before the request is applied, or after. */
export interface CutEffect {
  readonly kind: 'drop' | 'reset'
  readonly when: 'before' | 'after'
}

/** Half of the answer's body, an answer that is not HTTP, or EXPIRED_TOKEN although the token is good. */
export interface BrokenEffect {
  readonly kind: 'truncate' | 'garbage' | 'stale-token'
}

/** The answer's body comes in pieces, so many milliseconds apart. */
export interface DribbleEffect {
  readonly kind: 'dribble'
  readonly ms: number
}

/** A fault as the state document keeps it. */
export interface KeptFault {
  id: string
  match: FaultMatch
  times: number | null
  skip: number
  probability: number
  ttl?: string
  effect: Effect
  /** The client's time. */
  armedAt: string
  /** The real time at which `ttl` is over, in milliseconds since 1970. */
  expiresAt?: number
  /** How many requests have matched. */
  seen: number
  /** How often it has fired. */
  fired: number
}

/** A fault, armed or no longer. */
export interface Fault extends KeptFault {
  state: 'armed' | 'spent' | 'expired'
}

// ----------------------------------------------------------------------------------------------------------- requests

/** The request log of one client. It is bounded: the oldest go first. */
export interface Requests {
  /** What the application has sent and got, in order, secrets masked. */
  list(filter?: RequestFilter): Promise<LoggedRequest[]>
  /** Whether it has sent such requests as often as described; if not, the nearest misses. */
  verify(expectation: Expectation): Promise<Verification>
  /** The same, but rejects with an `ExpectationError` that tells what differs. */
  expect(expectation: Expectation): Promise<Verification>
  /** Empties the log; resolves to how many there were. */
  clear(): Promise<number>
}

/** An HTTP method. */
export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'

/** Which logged requests; what is left out does not matter. */
export interface RequestFilter {
  /** Those with a `seq` above this one. */
  readonly after?: number | undefined
  readonly method?: Method | undefined
  /** `*` stands for any run of characters. */
  readonly path?: string | undefined
  readonly status?: number | undefined
}

/** A request of the application, and what it got. */
export interface LoggedRequest {
  seq: number
  /** The client's time. */
  at: string
  method: string
  path: string
  /** A text where it could not be read as parameters. */
  query: Record<string, string | string[]> | string
  /** By their names in lower case. */
  headers: Record<string, string>
  /** JSON and forms as their value, other text as it is, else a note of what it was; null: there was none. */
  body: unknown
  /** Null: a fault cut the connection off. */
  status: number | null
  responseHeaders: Record<string, string>
  responseBody: unknown
  durationMs: number
  /** The faults that it met. */
  faults: { id: string; kind: string }[]
  /** What the header `Sandbox-Hint` told. */
  hints: string[]
}

/** Requests as they should be; what is left out does not matter. Without a number, at least one is expected. */
export interface Expectation {
  readonly method?: Method
  /** `*` stands for any run of characters. */
  readonly path?: string
  /** Parameters that are named must be equal; a list stands for one that is repeated. */
  readonly query?: Readonly<Record<string, string | readonly string[]>>
  /** By name, in any case. */
  readonly headers?: Readonly<Record<string, string>>
  /** Members that are named must be equal, arrays as a whole. */
  readonly body?: unknown
  readonly status?: number
  /** Exactly so many. */
  readonly times?: number
  readonly atLeast?: number
  readonly atMost?: number
}

/** Whether the expectation holds. */
export interface Verification {
  matched: boolean
  /** How many requests are as described. */
  count: number
  /** How many requests made room for later ones, and were not looked at. */
  dropped: number
  /** Where it does not hold: the requests that come nearest. */
  nearestMisses?: NearestMiss[]
}

/** A request that is nearly as described. */
export interface NearestMiss {
  seq: number
  method: string
  path: string
  status: number | null
  differences: Difference[]
}

/** What a request has otherwise than it should. */
export interface Difference {
  /** Such as `body.amount`. */
  at: string
  expected: unknown
  /** Left out where there is nothing. */
  actual?: unknown
}

// ------------------------------------------------------------------------------------------------------------- events

/** The changes of state of one client's records. */
export interface Events {
  /** All that there are, in order. */
  list(filter?: EventFilter): Promise<Event[]>
  /**
   * The first such event that `next` has not given yet for the same filter; waits for it where there is none.
   * Rejects with a `SandboxError` of code TIMEOUT when that takes too long.
   */
  next(filter?: EventFilter, options?: NextOptions): Promise<Event>
  /** All that there are, and then each as it happens, until you break off or the sandbox is closed. */
  stream(filter?: EventFilter, options?: StreamOptions): AsyncIterableIterator<Event>
}

/** Which events; what is left out does not matter. */
export interface EventFilter {
  readonly kind?: EventKind | undefined
  /** The record's reference or id. */
  readonly reference?: string | undefined
  /** The state that the record has got to. */
  readonly to?: string | undefined
  /** Those with a `seq` above this one. */
  readonly after?: number | undefined
}

/** How to wait. */
export interface NextOptions {
  /** How long, in whole seconds; 4 unless you say otherwise, which is less than a test usually has. */
  readonly timeoutSeconds?: number | undefined
}

/** How to break a stream off from outside. */
export interface StreamOptions {
  /** An `AbortSignal`: the stream ends when it is aborted. */
  readonly signal?: Abort | undefined
}

/** What an `AbortSignal` is here. */
export interface Abort {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

export type EventKind = 'mandate' | 'collection' | 'payoutLink' | 'bill'

/** A change of state. */
export interface Transition {
  /** The client's time. */
  at: string
  kind: EventKind
  reference: string
  /** Null: the record came into being. */
  from: string | null
  to: string
  reasonCode?: string
}

/** A change of state with its number and what brought it about. */
export interface Event extends Transition {
  /** Its place among the client's events, from 1. */
  seq: number
  cause: 'api' | 'time' | 'control' | 'outcome'
}

// ------------------------------------------------------------------------------------------------------ deprecations

/** The deprecated operations of one client. */
export interface Deprecations {
  /** All of them. */
  list(): Promise<Deprecation[]>
  /** Puts these in place of all. */
  set(deprecations: readonly DeprecationRequest[]): Promise<Deprecation[]>
  /** Removes all; resolves to how many there were. */
  clear(): Promise<number>
}

/** That an operation is deprecated. */
export interface Deprecation {
  /** Such as `GET /api/v1/direct-debit`. */
  operation: string
  deprecatedSince: string
  sunset?: string
  /** Whether the operation answers 410 from its sunset on. */
  goneAfterSunset: boolean
}

/** That an operation is to be deprecated: from now on, and without an end, unless you say otherwise. */
export interface DeprecationRequest {
  readonly operation: string
  readonly deprecatedSince?: string
  readonly sunset?: string
  readonly goneAfterSunset?: boolean
}

// ------------------------------------------------------------------------------------------------------------ records

export type Region = 'EU' | 'IN' | 'US' | 'UK'
export type Currency = 'EUR' | 'INR' | 'USD' | 'GBP'

/** Why a record is as it is, what comes next, and what is legal now. */
export interface Explained<R> {
  record: R
  timeline: Event[]
  /** What happens by itself, and when; null: nothing. */
  next: { at: string; to: string } | null
  legal: LegalMove[]
}

/** A change of state that is legal now. */
export interface LegalMove {
  verb: string
  to: string
  /** The reason codes that it can have. */
  reasonCodes?: string[]
  /** Until when it is legal. */
  until?: string
}

/** Collections: each method but the first makes one legal transition, now. */
export interface Collections {
  /** Explains one. */
  explain(collectionReference: string): Promise<Explained<Collection>>
  submit(collectionReference: string, reason?: CollectionReason): Promise<Explained<Collection>>
  process(collectionReference: string, reason?: CollectionReason): Promise<Explained<Collection>>
  settle(collectionReference: string, reason?: CollectionReason): Promise<Explained<Collection>>
  fail(collectionReference: string, reason?: CollectionReason): Promise<Explained<Collection>>
  reject(collectionReference: string, reason?: CollectionReason): Promise<Explained<Collection>>
  return(collectionReference: string, reason?: CollectionReason): Promise<Explained<Collection>>
  cancel(collectionReference: string, reason?: CollectionReason): Promise<Explained<Collection>>
}

/** Why a collection is rejected, returned or failed. */
export interface CollectionReason {
  /** Such as `AM04`: `explain` tells which are legal. */
  readonly reasonCode?: string
}

/** Mandates: each method but the first makes one legal transition, now. */
export interface Mandates {
  /** Explains one. */
  explain(mandateReference: string): Promise<Explained<Mandate>>
  activate(mandateReference: string): Promise<Explained<Mandate>>
  fail(mandateReference: string): Promise<Explained<Mandate>>
  cancel(mandateReference: string): Promise<Explained<Mandate>>
  expire(mandateReference: string): Promise<Explained<Mandate>>
}

/** Payout links: each method but the first makes one legal transition, now. Cancelling one is the API's. */
export interface PayoutLinks {
  /** Explains one. */
  explain(payoutLinkId: string): Promise<Explained<PayoutLink>>
  /** As its recipient, with the fields of the form. */
  claim(payoutLinkId: string, claim: Claim): Promise<Explained<PayoutLink>>
  /** As its recipient. */
  decline(payoutLinkId: string, decline?: Decline): Promise<Explained<PayoutLink>>
  process(payoutLinkId: string): Promise<Explained<PayoutLink>>
  pay(payoutLinkId: string): Promise<Explained<PayoutLink>>
  fail(payoutLinkId: string): Promise<Explained<PayoutLink>>
  expire(payoutLinkId: string): Promise<Explained<PayoutLink>>
}

/** Bills: they are moved by the API alone. */
export interface Bills {
  /** Explains one; where several regions have the reference, name one. */
  explain(uniqueReferenceIdentifier: string, where?: { readonly region?: Region }): Promise<Explained<Bill>>
}

export type CollectionStatus =
  | 'PENDING'
  | 'SUBMITTED'
  | 'PROCESSING'
  | 'SETTLED'
  | 'FAILED'
  | 'CANCELLED'
  | 'RETURNED'
  | 'REJECTED'

/** A collection request (SEPA direct debit). */
export interface Collection {
  collectionReference: string
  scheme: 'SEPA'
  mandateReference: string
  status: CollectionStatus
  amount: string
  currency: 'EUR'
  debtorName: string
  debtorReference?: string
  collectionDate: string
  initiatedAt: string
  updatedAt: string
  reasonCode?: string
}

/** A collection to be seeded: what the API takes, in any state. */
export interface SeedCollection {
  readonly collectionReference: string
  readonly mandateReference: string
  readonly amount: string
  readonly currency: 'EUR'
  readonly collectionDate: string
  readonly scheme?: 'SEPA'
  readonly debtorName?: string
  readonly debtorReference?: string
  readonly status?: CollectionStatus
  readonly reasonCode?: string
  readonly initiatedAt?: string
  readonly updatedAt?: string
}

export type MandateStatus = 'PENDING' | 'ACTIVE' | 'CANCELLED' | 'EXPIRED' | 'FAILED'
export type MandateType = 'RECURRING' | 'ONE_OFF'
export type MandateFrequency = 'WEEKLY' | 'MONTHLY' | 'QUARTERLY' | 'SEMI_ANNUAL' | 'ANNUAL'

/** Who collects. */
export interface Creditor {
  name: string
  bankIdentifier: { type: 'CREDITOR_IDENTIFIER'; value: string }
}

/** Who is collected from. */
export interface Debtor {
  name: string
  iban: string
  bic?: string
  reference?: string
  emailAddress?: string
}

/** A SEPA mandate. */
export interface Mandate {
  mandateReference: string
  type: MandateType
  frequency?: MandateFrequency
  creditor: Creditor
  debtor: Debtor
  mode: 'CORE'
  scheme: 'SEPA'
  currency: 'EUR'
  signatureDate: string
  status: MandateStatus
  createdAt: string
  updatedAt: string
  /** When a collection was last presented under it. */
  lastPresentedAt?: string
}

/** A mandate to be seeded: what the API takes, in any state. */
export interface SeedMandate {
  readonly mandateReference: string
  readonly type: MandateType
  readonly frequency?: MandateFrequency
  readonly creditor: Readonly<Creditor>
  readonly debtor: Readonly<Debtor>
  readonly mode?: 'CORE'
  readonly scheme?: 'SEPA'
  readonly currency?: 'EUR'
  readonly signatureDate?: string
  readonly status?: MandateStatus
  readonly createdAt?: string
  readonly updatedAt?: string
  readonly lastPresentedAt?: string
}

export type PayoutLinkStatus =
  | 'ACTIVE'
  | 'CLAIMED'
  | 'PROCESSING'
  | 'PAID'
  | 'FAILED'
  | 'CANCELLED'
  | 'EXPIRED'
  | 'REJECTED'
export type PayoutMethod = 'SEPA-CT' | 'SEPA-INSTANT' | 'US-ACH' | 'UK-BACS' | 'UK-FAST'

/** How a bank's branch is identified. */
export interface BranchIdentifier {
  type: 'BIC' | 'SORT' | 'ROUTING' | 'IFSC'
  value: string
}

/** What a recipient fills in to claim a payout link. */
export interface Claim {
  accountHolderName: string
  /** The IBAN, or the account number. */
  accountIdentifier: string
  /** ROUTING or SORT, where the method asks for it. */
  branchIdentifier?: BranchIdentifier
  /** With US-ACH. */
  accountType?: 'CHECKING' | 'SAVINGS'
}

/** What a recipient says who declines a payout link. */
export interface Decline {
  remarks?: string
}

/** A payout link. */
export interface PayoutLink {
  payoutLinkId: string
  amount: string
  currency: 'EUR' | 'USD' | 'GBP'
  payoutMethod: PayoutMethod
  counterpartyReference?: string
  accountHolderName?: string
  origin?: string
  remarks?: string
  uiMode: 'hosted' | 'embedded'
  expiryPeriod: string
  status: PayoutLinkStatus
  url: string
  expiresAt: string
  createdAt: string
  updatedAt: string
  cancellationComment?: string
  claimedAt?: string
  claim?: Claim
  decline?: Decline
}

/** A payout link to be seeded: what the API takes, in any state. */
export interface SeedPayoutLink {
  readonly amount: string
  readonly currency: 'EUR' | 'USD' | 'GBP'
  readonly payoutMethod: PayoutMethod
  readonly counterpartyReference?: string
  readonly accountHolderName?: string
  readonly origin?: string
  readonly remarks?: string
  readonly uiMode?: 'hosted' | 'embedded'
  readonly expiryPeriod?: string
  readonly payoutLinkId?: string
  readonly status?: PayoutLinkStatus
  readonly createdAt?: string
  readonly updatedAt?: string
  readonly cancellationComment?: string
  readonly claimedAt?: string
  readonly claim?: Readonly<Claim>
  readonly decline?: Readonly<Decline>
}

export type BillStatus = 'OPEN' | 'PARTIALLY_PAID' | 'PAID' | 'CANCELLED'
export type BillType = 'INVOICE' | 'CREDIT_NOTE' | 'DEBIT_NOTE'

/** A document of a bill. */
export interface BillDocument {
  documentId: string
  fileName: string
  contentType: 'application/pdf' | 'image/jpeg' | 'image/png'
  size: number
  sha256: string
  uploadedAt: string
}

/** A bill. */
export interface Bill {
  uniqueReferenceIdentifier: string
  type: BillType
  cashflowType: 'INFLOW' | 'OUTFLOW'
  counterpartyReference: string
  currency: Currency
  totalAmount: string
  issueDate?: string
  dueDate: string
  description?: string
  openAmount: string
  status: BillStatus
  documents: BillDocument[]
  createdAt: string
  updatedAt: string
}

/** A bill to be seeded: what the API takes, in any state. */
export interface SeedBill {
  readonly uniqueReferenceIdentifier: string
  readonly type: BillType
  readonly cashflowType: 'INFLOW' | 'OUTFLOW'
  readonly counterpartyReference: string
  readonly currency: Currency
  readonly totalAmount: string
  readonly issueDate?: string
  readonly dueDate: string
  readonly description?: string
  readonly openAmount?: string
  readonly status?: BillStatus
  readonly documents?: readonly BillDocument[]
  readonly createdAt?: string
  readonly updatedAt?: string
}

/** A postal address. */
export interface Address {
  line1: string
  line2?: string
  city: string
  postalCode?: string
  state?: string
  /** ISO 3166-1 alpha-2. */
  country: string
}

/** Whom bills and payouts are for. */
export interface Counterparty {
  counterpartyReference: string
  accountHolderName?: string
  emailAddress?: string
  mobileNumber?: string
  remarks?: string
  address?: Address
  branchIdentifier?: BranchIdentifier
}

/** A counterparty to be seeded. */
export interface SeedCounterparty extends Readonly<Counterparty> {
  readonly region: Region
}

/** An account of the client. */
export interface Account {
  accountReference: string
  accountHolderName: string
  currency: Currency
  accountIdentifier: string
  branchIdentifier?: BranchIdentifier
  balance: string
}

/** Records to be seeded. */
export interface SeedRecords {
  readonly mandates?: readonly SeedMandate[]
  readonly collections?: readonly SeedCollection[]
  readonly payoutLinks?: readonly SeedPayoutLink[]
  readonly bills?: readonly SeedBill[]
  readonly counterparties?: readonly SeedCounterparty[]
  readonly accounts?: readonly Readonly<Account>[]
}

// ---------------------------------------------------------------------------------------------------------- documents

/** A record with its place among all, and the numbers of its events. */
export interface StatefulRecord<R> {
  region: Region
  sequence: number
  timeline: number[]
  record: R
}

/** A record without a history, with its place among all. */
export interface PlainRecord<R> {
  region: Region
  sequence: number
  createdAt: string
  record: R
}

/** A client as one document, as `state()` resolves to it and `restore()` takes it. */
export interface State {
  format: 'payments-sandbox/state'
  version: 1
  clock: ClockState
  settings: Settings
  deprecations: Deprecation[]
  faults: KeptFault[]
  ids: { scope: string; counters: Record<string, number> }
  tokens: { expiredUpTo: number }
  sequence: number
  mandates: StatefulRecord<Mandate>[]
  collections: StatefulRecord<Collection>[]
  payoutLinks: StatefulRecord<PayoutLink>[]
  bills: StatefulRecord<Bill>[]
  counterparties: PlainRecord<Counterparty>[]
  accounts: PlainRecord<Account>[]
  events: Event[]
}

/** What changed a client since its start: the content of a file for `payments-sandbox replay FILE`. */
export interface Recording {
  format: 'payments-sandbox/recording'
  version: 1
  /** The release that recorded it. */
  recordedBy: string
  clientId: string
  seed: string
  publicUrl: string
  tokenLifetime: number
  identity: { resets: number; fixture: string; scope: string; allowedOrigins: string[] }
  /** How many requests came before `start`, and are gone. */
  dropped: number
  /** The state that the first request met. */
  start: State
  requests: RecordedRequest[]
}

/** A recorded request; secrets are masked. */
export interface RecordedRequest {
  /** Its place in the recording, from 1. */
  n: number
  /** The client's time. */
  at: string
  /** The real time. */
  receivedAt: string
  method: string
  url: string
  headers: Record<string, string>
  body?: string
  /** What is no text. */
  bodyBase64?: string
  /** Where payout links point from here on, if that has changed. */
  publicUrl?: string
  /** A long body is known by its digest alone; null: it was not answered. */
  answer: { status: number; body?: string; sha256?: string } | null
}
