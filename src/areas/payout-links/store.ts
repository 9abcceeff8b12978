import { parseDuration } from '../../core/duration.js'
import type { Engine } from '../../core/engine.js'
import { atPath, errors } from '../../core/errors.js'
import { parseAmount } from '../../core/money.js'
import { isOneOf } from '../../core/origins.js'
import type { Region } from '../../core/regions.js'
import { CURRENCY_OF } from '../../core/regions.js'
import type { Explained, KeptStateful, Step } from '../../core/stateful-table.js'
import { createStatefulTable } from '../../core/stateful-table.js'
import type { Placed } from '../../core/table.js'
import type { Instant } from '../../core/time.js'
import { formatInstant, LAST_INSTANT, parseInstant } from '../../core/time.js'
import type { PayoutLinkStatus, PayoutLinkVerb } from './lifecycle.js'
import { payoutLinkLifecycle } from './lifecycle.js'
import { PAYOUT_METHODS, payoutMethods, processingAt } from './methods.js'
import type { CancelPayoutLink, Claim, Decline, NewPayoutLink, SeedPayoutLink, StoredPayoutLink } from './schemas.js'

export interface PayoutLinkStoreOptions {
  readonly engine: Engine
  /** The address that links are reached under, without a trailing slash. */
  publicUrl(): string
  /** The origins that may embed a link. */
  allowedOrigins(): readonly string[]
}

export type PayoutLinkStore = ReturnType<typeof createPayoutLinkStore>

/** Lifetimes in seconds: embedded documented (interface, Limits), hosted and the defaults assumed (decisions §8). */
const EXPIRY = {
  embedded: { least: 'PT10M', most: 'PT12H', byDefault: 'PT1H' },
  hosted: { least: 'PT10M', most: 'P30D', byDefault: 'P7D' },
} as const

const seconds = (duration: string) => parseDuration(duration) as number

/** The payout links of one tenant (decisions §8), in regions EU, US and UK. */
export function createPayoutLinkStore({ engine, publicUrl, allowedOrigins }: PayoutLinkStoreOptions) {
  const { clock, ids } = engine

  const table = createStatefulTable<StoredPayoutLink, PayoutLinkStatus, PayoutLinkVerb, never>(
    {
      name: 'payout-links',
      event: 'payoutLink',
      noun: 'payout link',
      lifecycle: payoutLinkLifecycle,
      referenceField: 'payoutLinkId',
      reference: link => link.payoutLinkId,
      region: link => payoutMethods[link.payoutMethod].region,
      createdAt: link => link.createdAt,
      facets: {},
      plan: nextStep,
    },
    engine,
  )

  function build(
    region: Region,
    input: NewPayoutLink,
    createdAt: Instant,
  ): Omit<StoredPayoutLink, 'payoutLinkId' | 'url'> {
    const { currency, payoutMethod, uiMode = 'hosted', origin } = input
    if (CURRENCY_OF[region] !== currency) throw errors.regionCurrencyMismatch(region, currency, CURRENCY_OF[region])

    const method = payoutMethods[payoutMethod]
    if (method.region !== region) {
      const legal = PAYOUT_METHODS.filter(name => payoutMethods[name].region === region)
      throw errors.payoutMethodMismatch(payoutMethod, region, legal)
    }
    if (parseAmount(input.amount) > parseAmount(method.limit)) {
      throw errors.amountLimitExceeded(payoutMethod, `${method.limit} ${currency}`)
    }

    const { least, most, byDefault } = EXPIRY[uiMode]
    const expiryPeriod = input.expiryPeriod ?? byDefault
    const lifetime = seconds(expiryPeriod)
    if (lifetime < seconds(least) || lifetime > seconds(most)) {
      throw errors.invalid(
        'expiryPeriod',
        `expiryPeriod of a link in uiMode ${uiMode} must be from ${least} to ${most}.`,
      )
    }
    if (uiMode === 'embedded' && origin === undefined) {
      throw errors.missing('origin', 'origin is required for a link in uiMode embedded.')
    }

    const { amount, counterpartyReference, accountHolderName, remarks } = input
    return {
      amount,
      currency,
      payoutMethod,
      ...(counterpartyReference !== undefined && { counterpartyReference }),
      ...(accountHolderName !== undefined && { accountHolderName }),
      uiMode,
      expiryPeriod,
      ...(origin !== undefined && { origin }),
      ...(remarks !== undefined && { remarks }),
      status: 'ACTIVE',
      expiresAt: formatInstant(Math.min(createdAt + lifetime * 1000, LAST_INSTANT)),
      createdAt: formatInstant(createdAt),
      updatedAt: formatInstant(createdAt),
    }
  }

  const identified = (payoutLinkId: string) => ({ payoutLinkId, url: `${publicUrl()}/payout/${payoutLinkId}` })

  /** An id that no link has: seeding may have brought back those of an earlier life. */
  function freshId(staged: ReadonlySet<string> = new Set()): string {
    let payoutLinkId: string
    do payoutLinkId = `pl_${ids.next('payoutLink')}`
    while (isKnown(payoutLinkId, staged))
    return payoutLinkId
  }

  const isKnown = (payoutLinkId: string, staged: ReadonlySet<string>) =>
    staged.has(payoutLinkId) || table.find(payoutLinkId).length > 0

  /** A link by its id alone, as the control plane names it: ids are unique across regions. */
  function findEntry(payoutLinkId: string) {
    const [entry] = table.find(payoutLinkId)
    if (entry === undefined) throw errors.payoutLinkNotFound(payoutLinkId)
    return entry
  }

  return {
    /**
     * @throws REGION_CURRENCY_MISMATCH, PAYOUT_METHOD_MISMATCH, AMOUNT_LIMIT_EXCEEDED, INVALID_FIELD (expiryPeriod),
     * MISSING_FIELD (origin), ORIGIN_NOT_ALLOWED
     */
    create(region: Region, input: NewPayoutLink): StoredPayoutLink {
      const link = build(region, input, clock.now())
      if (link.uiMode === 'embedded' && !isOneOf(link.origin as string, allowedOrigins())) {
        throw errors.originNotAllowed(link.origin as string)
      }
      return table.create(region, { ...identified(freshId()), ...link }, 'api').record
    },

    /**
     * Documented: only a link that has not been claimed; the comment is stored (interface, Payout link).
     * @throws PAYOUT_LINK_NOT_FOUND, PAYOUT_LINK_ALREADY_CLAIMED, PAYOUT_LINK_NOT_CANCELLABLE
     */
    cancel(region: Region, payoutLinkId: string, { cancellationComment }: CancelPayoutLink): void {
      const entry = table.get(region, payoutLinkId, errors.payoutLinkNotFound)
      const { status } = entry.record
      if (status === 'CLAIMED' || status === 'PROCESSING' || status === 'PAID')
        throw errors.payoutLinkAlreadyClaimed(status)
      if (status !== 'ACTIVE') throw errors.payoutLinkNotCancellable(status)
      table.move(entry, 'cancel', 'api', { cancellationComment })
    },

    /**
     * The recipient claims the link with the account that is to be paid.
     * @throws PAYOUT_LINK_NOT_FOUND, ILLEGAL_TRANSITION, MISSING_FIELD, INVALID_FIELD
     */
    claim(payoutLinkId: string, claim: Claim): void {
      const entry = findEntry(payoutLinkId)
      refuseUnpayable(claim, entry.record)
      const claimedAt = formatInstant(clock.now())
      table.move(entry, 'claim', 'control', { claim, claimedAt })
    },

    /** @throws PAYOUT_LINK_NOT_FOUND, ILLEGAL_TRANSITION */
    decline(payoutLinkId: string, decline: Decline): void {
      table.move(findEntry(payoutLinkId), 'decline', 'control', { decline })
    },

    /** @throws PAYOUT_LINK_NOT_FOUND, ILLEGAL_TRANSITION */
    transition(payoutLinkId: string, verb: PayoutLinkVerb): void {
      table.move(findEntry(payoutLinkId), verb, 'control')
    },

    explain(payoutLinkId: string): Explained<StoredPayoutLink> {
      return table.explain(findEntry(payoutLinkId))
    },

    /**
     * Checks seeded links, of any state and from any origin. The region follows from the currency.
     * @throws as `create`, the field with the path of the record in front; DUPLICATE_REFERENCE
     */
    stage(seeds: readonly SeedPayoutLink[], path: string) {
      const known = new Set<string>()
      const given = new Set(seeds.flatMap(({ payoutLinkId }) => payoutLinkId ?? []))
      const records = seeds.map((seed, index) =>
        atPath(`${path}.${index}`, (): Placed<StoredPayoutLink> => {
          // Ids name a link without its region, so none may stand in two.
          const { payoutLinkId = freshId(given) } = seed
          if (isKnown(payoutLinkId, known)) throw errors.duplicateReference('payoutLinkId', payoutLinkId)
          known.add(payoutLinkId)
          const region = payoutMethods[seed.payoutMethod].region
          const createdAt = seed.createdAt === undefined ? clock.now() : (parseInstant(seed.createdAt) as Instant)
          const link = build(region, seed, createdAt)
          const { status = link.status, updatedAt = link.updatedAt, cancellationComment, claim, decline } = seed
          if (claim !== undefined) refuseUnpayable(claim, link, 'claim.')
          const claimedAt = seed.claimedAt ?? (claim === undefined ? undefined : updatedAt)
          const record = {
            ...identified(payoutLinkId),
            ...link,
            status,
            updatedAt,
            ...(cancellationComment !== undefined && { cancellationComment }),
            ...(claimedAt !== undefined && { claimedAt }),
            ...(claim !== undefined && { claim }),
            ...(decline !== undefined && { decline }),
          }
          return { region, record }
        }),
      )
      return { commit: table.stage(records, path) }
    },

    keep: table.keep,
    /** Takes what `keep` gave into an empty store. @throws as the table; DUPLICATE_REFERENCE across regions */
    restore(kept: readonly KeptStateful<StoredPayoutLink>[], path: string): void {
      const known = new Set<string>()
      for (const [at, { record }] of kept.entries()) {
        const { payoutLinkId } = record
        if (known.has(payoutLinkId)) throw errors.duplicateReference(`${path}.${at}.record.payoutLinkId`, payoutLinkId)
        known.add(payoutLinkId)
      }
      table.restore(kept, path)
    },

    size: table.size,
  }
}

function nextStep({
  status,
  payoutMethod,
  expiresAt,
  claimedAt,
  updatedAt,
}: StoredPayoutLink): Step<PayoutLinkVerb> | null {
  const claimed = parseInstant(claimedAt ?? updatedAt) as Instant
  switch (status) {
    case 'ACTIVE':
      return { at: parseInstant(expiresAt) as Instant, verb: 'expire', cause: 'time' }
    case 'CLAIMED':
      return { at: processingAt(claimed), verb: 'process', cause: 'time' }
    case 'PROCESSING':
      return { at: payoutMethods[payoutMethod].paidAt(claimed), verb: 'pay', cause: 'time' }
    default:
      return null
  }
}

/** Refuses a claim that lacks what the method pays to (decisions §8). `path` stands in front of the fields. */
function refuseUnpayable(claim: Claim, { payoutMethod }: Pick<StoredPayoutLink, 'payoutMethod'>, path = '') {
  const { accountIdentifier, branchIdentifier, accountType } = claim
  const { isIdentifier, identifier, branch, hasType } = payoutMethods[payoutMethod].account
  if (!isIdentifier(accountIdentifier)) {
    throw errors.invalid(`${path}accountIdentifier`, `accountIdentifier must be ${identifier} for ${payoutMethod}.`)
  }
  if (branch !== undefined) {
    const { type, isValue, value } = branch
    if (branchIdentifier === undefined) {
      const message = `branchIdentifier of type ${type} is required for ${payoutMethod}.`
      throw errors.missing(`${path}branchIdentifier`, message)
    }
    if (branchIdentifier.type !== type) {
      throw errors.invalid(`${path}branchIdentifier.type`, `branchIdentifier.type must be ${type} for ${payoutMethod}.`)
    }
    if (!isValue(branchIdentifier.value)) {
      throw errors.invalid(`${path}branchIdentifier.value`, `branchIdentifier.value must be ${value}.`)
    }
  }
  if (hasType && accountType === undefined) {
    throw errors.missing(`${path}accountType`, `accountType CHECKING or SAVINGS is required for ${payoutMethod}.`)
  }
}
