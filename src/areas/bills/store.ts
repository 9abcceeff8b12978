import { sha256 } from '../../core/digests.js'
import type { Engine } from '../../core/engine.js'
import { atPath, errors } from '../../core/errors.js'
import { parseAmount } from '../../core/money.js'
import type { Region } from '../../core/regions.js'
import { CURRENCY_OF, regionOf } from '../../core/regions.js'
import type { Explained, StatefulEntry } from '../../core/stateful-table.js'
import { createStatefulTable } from '../../core/stateful-table.js'
import type { List, Placed } from '../../core/table.js'
import { formatInstant } from '../../core/time.js'
import type { Upload } from '../../http/upload.js'
import { documentTypeOf } from './documents.js'
import type { BillStatus, BillVerb } from './lifecycle.js'
import { billLifecycle, verbTo } from './lifecycle.js'
import type { Bill, BillDocument, BillQuery, BillUpdate, NewBill, SeedBill } from './schemas.js'

export interface BillStoreOptions {
  readonly engine: Engine
  readonly counterparties: {
    /** Brings the counterparty into being if it is not known. */
    ensure(region: Region, counterpartyReference: string): void
  }
}

export type BillStore = ReturnType<typeof createBillStore>

/** The bills of one tenant (decisions §9), in all regions. */
export function createBillStore({ engine, counterparties }: BillStoreOptions) {
  const { clock, ids } = engine

  const table = createStatefulTable<Bill, BillStatus, BillVerb, 'type' | 'cashflowType' | 'counterpartyReference'>(
    {
      name: 'bills',
      event: 'bill',
      noun: 'bill',
      lifecycle: billLifecycle,
      referenceField: 'uniqueReferenceIdentifier',
      reference: bill => bill.uniqueReferenceIdentifier,
      region: bill => regionOf(bill.currency),
      createdAt: bill => bill.createdAt,
      facets: {
        type: bill => bill.type,
        cashflowType: bill => bill.cashflowType,
        counterpartyReference: bill => bill.counterpartyReference,
      },
      plan: () => null,
    },
    engine,
  )

  function build(region: Region, input: NewBill): Bill {
    if (CURRENCY_OF[region] !== input.currency) {
      throw errors.regionCurrencyMismatch(region, input.currency, CURRENCY_OF[region])
    }
    const { uniqueReferenceIdentifier, type, cashflowType, counterpartyReference, currency, totalAmount } = input
    const { openAmount = totalAmount, issueDate, dueDate, description } = input
    const now = formatInstant(clock.now())
    return {
      uniqueReferenceIdentifier,
      type,
      cashflowType,
      counterpartyReference,
      currency,
      totalAmount,
      openAmount,
      ...(issueDate !== undefined && { issueDate }),
      dueDate,
      ...(description !== undefined && { description }),
      status: statusOf(openAmount, totalAmount),
      documents: [],
      createdAt: now,
      updatedAt: now,
    }
  }

  const entryOf = (region: Region, uniqueReferenceIdentifier: string) =>
    table.get(region, uniqueReferenceIdentifier, errors.billNotFound)

  function refuseCancelled({ record }: StatefulEntry<Bill>) {
    if (record.status === 'CANCELLED') throw errors.billCancelled()
  }

  return {
    /** @throws REGION_CURRENCY_MISMATCH, INVALID_FIELD (openAmount above totalAmount), DUPLICATE_REFERENCE */
    create(region: Region, input: NewBill): Bill {
      const bill = build(region, input)
      table.refuseDuplicate(region, bill.uniqueReferenceIdentifier)
      counterparties.ensure(region, bill.counterpartyReference)
      return table.create(region, bill, 'api').record
    },

    /** @throws BILL_NOT_FOUND */
    get: (region: Region, uniqueReferenceIdentifier: string): Bill => entryOf(region, uniqueReferenceIdentifier).record,

    /** @throws INVALID_CURSOR */
    list(region: Region, query: BillQuery): List<Bill> {
      const { status, type, cashflowType, counterpartyReference, cursor, limit } = query
      return table.list(region, {
        facets: { status, type, cashflowType, counterpartyReference },
        matches: dueWithin(query),
        cursor,
        limit,
      })
    },

    /**
     * The status follows the open amount; PAID alone pays what is open.
     * @throws BILL_NOT_FOUND, BILL_CANCELLED, INCONSISTENT_BILL_UPDATE, INVALID_FIELD (openAmount above totalAmount)
     */
    update(region: Region, uniqueReferenceIdentifier: string, update: BillUpdate): Bill {
      const entry = entryOf(region, uniqueReferenceIdentifier)
      const { record } = entry
      const { status, ...facts } = resolve(record, update)
      refuseCancelled(entry)
      if (status !== record.status) table.move(entry, verbTo[status], 'api', facts)
      else Object.assign(record, facts, { updatedAt: formatInstant(clock.now()) })
      return record
    },

    /**
     * Links a document to the bill. Its content is not kept: no way to read it is documented.
     * @throws BILL_NOT_FOUND, BILL_CANCELLED
     */
    attach(region: Region, uniqueReferenceIdentifier: string, { fileName, content }: Upload): BillDocument {
      const entry = entryOf(region, uniqueReferenceIdentifier)
      refuseCancelled(entry)
      const { record } = entry
      const uploadedAt = formatInstant(clock.now())
      const document: BillDocument = {
        documentId: `doc_${ids.next('document')}`,
        fileName,
        contentType: documentTypeOf(content) as BillDocument['contentType'],
        size: content.length,
        sha256: sha256(content),
        uploadedAt,
      }
      record.documents.push(document)
      record.updatedAt = uploadedAt
      return document
    },

    /**
     * @param region undefined: the only one that has the reference
     * @throws BILL_NOT_FOUND, MISSING_FIELD (region, where several have the reference)
     */
    explain(uniqueReferenceIdentifier: string, region?: Region): Explained<Bill> {
      if (region !== undefined) return table.explain(entryOf(region, uniqueReferenceIdentifier))
      const [entry, another] = table.find(uniqueReferenceIdentifier)
      if (entry === undefined) throw errors.billNotFound(uniqueReferenceIdentifier)
      if (another !== undefined) {
        throw errors.missing('region', 'Bills of several regions have this reference: say which with ?region=.')
      }
      return table.explain(entry)
    },

    /**
     * Checks seeded bills, of any state. The region follows from the currency.
     * @throws as `create`, the field with the path of the record in front; INCONSISTENT_BILL_UPDATE
     */
    stage(seeds: readonly SeedBill[], path: string) {
      const records = seeds.map((seed, index) =>
        atPath(`${path}.${index}`, (): Placed<Bill> => {
          const region = regionOf(seed.currency)
          const bill = build(region, seed)
          const { createdAt = bill.createdAt, updatedAt = createdAt, documents = bill.documents } = seed
          const { status, openAmount } = seed
          const facts = status === 'CANCELLED' ? { status } : resolve(bill, { status, openAmount })
          return { region, record: { ...bill, ...facts, documents, createdAt, updatedAt } }
        }),
      )
      const store = table.stage(records, path)
      return {
        commit() {
          for (const { region, record } of records) counterparties.ensure(region, record.counterpartyReference)
          store()
        },
      }
    },

    keep: table.keep,
    restore: table.restore,

    size: table.size,
  }
}

/** The status that an open amount means. @throws INVALID_FIELD (openAmount above totalAmount) */
function statusOf(openAmount: string, totalAmount: string): Exclude<BillStatus, 'CANCELLED'> {
  const open = parseAmount(openAmount)
  const total = parseAmount(totalAmount)
  if (open > total)
    throw errors.invalid('openAmount', `openAmount must not be above totalAmount, which is ${totalAmount}.`)
  if (open === total) return 'OPEN'
  return open === 0 ? 'PAID' : 'PARTIALLY_PAID'
}

/**
 * What an update comes to: always the status, and the members that it sets.
 * @throws INCONSISTENT_BILL_UPDATE, INVALID_FIELD (openAmount above totalAmount)
 */
function resolve(bill: Bill, update: BillUpdate): Partial<Bill> & Pick<Bill, 'status'> {
  const { status, dueDate } = update
  const openAmount = update.openAmount ?? (status === 'PAID' ? '0' : undefined)
  const facts = { ...(dueDate !== undefined && { dueDate }), ...(openAmount !== undefined && { openAmount }) }
  if (status === 'CANCELLED' && openAmount === undefined) return { ...facts, status }

  const implied = statusOf(openAmount ?? bill.openAmount, bill.totalAmount)
  if (status !== undefined && status !== implied) {
    throw errors.inconsistentBillUpdate(
      'status',
      `status ${status} contradicts openAmount ${openAmount ?? bill.openAmount} of ${bill.totalAmount}, which means ${implied}.`,
    )
  }
  return { ...facts, status: implied }
}

function dueWithin({ dueDateFrom, dueDateTo }: BillQuery) {
  if (dueDateFrom === undefined && dueDateTo === undefined) return undefined
  return ({ record }: StatefulEntry<Bill>) =>
    (dueDateFrom === undefined || dueDateFrom <= record.dueDate) &&
    (dueDateTo === undefined || record.dueDate <= dueDateTo)
}
