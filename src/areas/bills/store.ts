import { sha256 } from '../../core/digests.js'
import { parseAmount } from '../../core/domain/money.js'
import type { Region } from '../../core/domain/regions.js'
import { CURRENCY_OF, regionOf } from '../../core/domain/regions.js'
import { errors } from '../../core/errors.js'
import type { LegalTransition } from '../../core/records/lifecycle.js'
import type { List } from '../../core/records/list.js'
import type { StagedRecords } from '../../core/records/repository.js'
import type { StatefulEntry } from '../../core/records/stateful-repository.js'
import { StatefulRepository } from '../../core/records/stateful-repository.js'
import { formatInstant } from '../../core/time/time.js'
import type { Upload } from '../../http/request-context.js'
import type { StoreOptions } from '../area.js'
import { documentTypeOf } from './documents.js'
import type { BillStatus, BillTransition } from './lifecycle.js'
import { billLifecycle, transitionTo } from './lifecycle.js'
import type { Bill, BillDocument, BillQuery, BillUpdate, NewBill, SeedBill } from './schemas.js'
import { MOST_DOCUMENTS } from './schemas.js'

/** The operation of the store of counterparties that bills need. */
export interface Counterparties {
  /** Creates the counterparty if it does not exist. */
  ensure(region: Region, counterpartyReference: string): void
}

/** The bills of one tenant (decisions §9), in all regions. */
export class BillStore extends StatefulRepository<Bill, BillStatus, BillTransition> {
  readonly #counterparties: Counterparties

  constructor({ context, stores: { counterparties } }: StoreOptions<{ counterparties: Counterparties }>) {
    super(context, billLifecycle)
    this.#counterparties = counterparties
  }

  /** @throws REGION_CURRENCY_MISMATCH, INVALID_FIELD (openAmount above totalAmount), DUPLICATE_REFERENCE */
  create(input: NewBill, region: Region): Bill {
    const bill = build(region, input, this.#now())
    this.assertUnused(region, bill.uniqueReferenceIdentifier)
    this.#counterparties.ensure(region, bill.counterpartyReference)
    return this.add(region, bill, 'api').record
  }

  /** @throws BILL_NOT_FOUND */
  get(region: Region, uniqueReferenceIdentifier: string): Bill {
    return this.entry(region, uniqueReferenceIdentifier).record
  }

  /** @throws INVALID_CURSOR */
  list(region: Region, query: BillQuery): List<Bill> {
    const { status, type, cashflowType, counterpartyReference, cursor, limit } = query
    return this.page(region, {
      fields: { status, type, cashflowType, counterpartyReference },
      matches: dueWithin(query),
      cursor,
      limit,
    })
  }

  /**
   * Updates a bill. The status follows the open amount; PAID without an amount sets it to 0.
   * @throws BILL_NOT_FOUND, BILL_CANCELLED, INCONSISTENT_BILL_UPDATE, INVALID_FIELD (openAmount above totalAmount)
   */
  update(region: Region, uniqueReferenceIdentifier: string, update: BillUpdate): Bill {
    const entry = this.entry(region, uniqueReferenceIdentifier)
    const { status, ...changes } = resolve(entry.record, update)
    assertNotCancelled(entry)
    if (status !== entry.record.status) return this.transition(entry, transitionTo[status], 'api', changes)
    return this.replace(entry, { ...changes, updatedAt: this.#now() })
  }

  /**
   * Adds a document to the bill. Its content is not stored: no documented operation reads it.
   * @throws BILL_NOT_FOUND, BILL_CANCELLED, INVALID_FIELD (file, if the bill takes no more)
   */
  attach(region: Region, uniqueReferenceIdentifier: string, { fileName, content }: Upload): BillDocument {
    const entry = this.entry(region, uniqueReferenceIdentifier)
    assertNotCancelled(entry)
    const { documents } = entry.record
    if (documents.length >= MOST_DOCUMENTS) {
      throw errors.invalid('file', `A bill takes at most ${MOST_DOCUMENTS} documents.`)
    }
    const uploadedAt = this.#now()
    const document: BillDocument = {
      documentId: `doc_${this.context.ids.next('document')}`,
      fileName,
      contentType: documentTypeOf(content) as BillDocument['contentType'],
      size: content.length,
      sha256: sha256(content),
      uploadedAt,
    }
    this.replace(entry, { documents: [...documents, document], updatedAt: uploadedAt })
    return document
  }

  /**
   * Checks seeded bills, of any state. The region follows from the currency.
   * @throws the errors of `create` and INCONSISTENT_BILL_UPDATE, with the path of the record before the field
   */
  stage(seeds: readonly SeedBill[], path: string): StagedRecords {
    const { records, add } = this.stageAll(seeds, path, seed => {
      const region = regionOf(seed.currency)
      const bill = build(region, seed, this.#now())
      const { createdAt = bill.createdAt, updatedAt = createdAt, documents = bill.documents } = seed
      const { status, openAmount } = seed
      const changes = status === 'CANCELLED' ? { status } : resolve(bill, { status, openAmount })
      return { region, record: { ...bill, ...changes, documents, createdAt, updatedAt } }
    })
    return {
      records,
      add: () => {
        for (const { region, record } of records) this.#counterparties.ensure(region, record.counterpartyReference)
        add()
      },
    }
  }

  protected override regionOf({ currency }: Bill): Region {
    return regionOf(currency)
  }

  protected override weightOf({ documents }: Bill): number {
    return documents.length
  }

  protected override stepAfter(): null {
    return null
  }

  /** A bill of one cent cannot be paid in part. */
  protected override legal(bill: Bill): readonly LegalTransition[] {
    return super.legal(bill).filter(({ to }) => to !== 'PARTIALLY_PAID' || parseAmount(bill.totalAmount) > 1)
  }

  #now(): string {
    return formatInstant(this.context.clock.now())
  }
}

function build(region: Region, input: NewBill, now: string): Bill {
  if (CURRENCY_OF[region] !== input.currency) {
    throw errors.regionCurrencyMismatch(region, input.currency, CURRENCY_OF[region])
  }
  const { totalAmount, openAmount = totalAmount } = input
  return {
    ...input,
    openAmount,
    status: statusOf(openAmount, totalAmount),
    documents: [],
    createdAt: now,
    updatedAt: now,
  }
}

function assertNotCancelled({ record }: StatefulEntry<Bill>): void {
  if (record.status === 'CANCELLED') throw errors.billCancelled()
}

/** Returns the status of an open amount. @throws INVALID_FIELD (openAmount above totalAmount) */
export function statusOf(openAmount: string, totalAmount: string): Exclude<BillStatus, 'CANCELLED'> {
  const open = parseAmount(openAmount)
  const total = parseAmount(totalAmount)
  if (open > total)
    throw errors.invalid('openAmount', `openAmount must not be above totalAmount, which is ${totalAmount}.`)
  if (open === total) return 'OPEN'
  return open === 0 ? 'PAID' : 'PARTIALLY_PAID'
}

/**
 * Returns the changes of an update, always with the status.
 * @throws INCONSISTENT_BILL_UPDATE, INVALID_FIELD (openAmount above totalAmount)
 */
function resolve(bill: Bill, update: BillUpdate): Partial<Bill> & Pick<Bill, 'status'> {
  const { status, dueDate } = update
  const openAmount = update.openAmount ?? (status === 'PAID' ? '0' : undefined)
  const changes = { ...(dueDate !== undefined && { dueDate }), ...(openAmount !== undefined && { openAmount }) }
  if (status === 'CANCELLED' && openAmount === undefined) return { ...changes, status }

  const implied = statusOf(openAmount ?? bill.openAmount, bill.totalAmount)
  if (status !== undefined && status !== implied) {
    throw errors.inconsistentBillUpdate(
      'status',
      `status ${status} contradicts openAmount ${openAmount ?? bill.openAmount} of ${bill.totalAmount}, which means ${implied}.`,
    )
  }
  return { ...changes, status: implied }
}

function dueWithin({ dueDateFrom, dueDateTo }: BillQuery) {
  if (dueDateFrom === undefined && dueDateTo === undefined) return undefined
  return ({ dueDate }: Bill) =>
    (dueDateFrom === undefined || dueDateFrom <= dueDate) && (dueDateTo === undefined || dueDate <= dueDateTo)
}
