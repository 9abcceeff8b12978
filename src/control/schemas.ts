import type { TProperties } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Bill, BillParams, BillRegionQuery } from '../areas/bills/schemas.js'
import { Collection, CollectionParams, CollectionVerbBody } from '../areas/direct-debit/schemas.js'
import { MandateParams, StoredMandate } from '../areas/mandates/schemas.js'
import { Claim, Decline, PayoutLinkParams, StoredPayoutLink } from '../areas/payout-links/schemas.js'
import { assumed, labelled, Moment, OneOf } from '../http/schemas.js'
import { SeedRecords } from '../seed.js'

/** Which tenant a call acts on. */
const client = { client: Type.Optional(assumed(Type.String())) }
export const ClientQuery = Type.Object(client)

const Counts = labelled(assumed, {
  mandates: Type.Integer(),
  collections: Type.Integer(),
  payoutLinks: Type.Integer(),
  bills: Type.Integer(),
  counterparties: Type.Integer(),
  accounts: Type.Integer(),
})

export const Health = labelled(assumed, { status: OneOf('ok') })

export const Overview = labelled(assumed, {
  name: Type.String(),
  version: Type.String(),
  uptime: Type.Integer({ description: 'Whole seconds since the start.' }),
  seed: Type.String(),
  tenants: Type.Integer(),
  records: Counts,
  routes: Type.Array(labelled(assumed, { method: Type.String(), path: Type.String(), summary: Type.String() })),
})

export const ClientList = labelled(assumed, {
  data: Type.Array(labelled(assumed, { clientId: Type.String(), fixture: Type.String(), counts: Counts, now: Moment })),
})

export const ResetResult = labelled(assumed, {
  clientId: Type.String(),
  fixture: Type.String(),
  counts: Counts,
  now: Moment,
})

export const SeedRequest = Type.Unsafe<{ fixture?: string; records?: SeedRecords }>(
  Type.Object(
    { fixture: Type.Optional(assumed(Type.String())), records: Type.Optional(assumed(SeedRecords)) },
    { anyOf: [{ required: ['fixture'] }, { required: ['records'] }] },
  ),
)
export const SeedResult = labelled(assumed, { added: Counts, counts: Counts })

const Mode = OneOf('running', 'frozen')
const Rate = Type.Integer({ minimum: 1, maximum: 86_400, 'x-expected': 'an integer from 1 to 86400' })

export const ClockState = labelled(assumed, { now: Moment, mode: Mode, rate: Rate })
export const ClockUpdate = Type.Object(
  { mode: Type.Optional(assumed(Mode)), rate: Type.Optional(assumed(Rate)) },
  { anyOf: [{ required: ['mode'] }, { required: ['rate'] }] },
)

export const ClockAdvance = Type.Object(
  {
    by: Type.Optional(
      assumed(
        Type.String({
          format: 'duration',
          maxLength: 32,
          'x-expected': 'an ISO 8601 duration without years and months, such as P3D',
        }),
      ),
    ),
    to: Type.Optional(assumed(Moment)),
    toNextEvent: Type.Optional(assumed(Type.Literal(true, { 'x-expected': 'true' }))),
  },
  { anyOf: [{ required: ['by'] }, { required: ['to'] }, { required: ['toNextEvent'] }] },
)

const change = {
  at: Moment,
  kind: OneOf('mandate', 'collection', 'payoutLink', 'bill'),
  reference: Type.String(),
  from: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
  to: Type.String(),
  reasonCode: Type.Optional(Type.String()),
}
export const ClockAdvanced = labelled(assumed, { now: Moment, transitions: Type.Array(labelled(assumed, change)) })

const Event = labelled(assumed, { seq: Type.Integer(), ...change, cause: OneOf('api', 'time', 'control', 'outcome') })

const explained = <R extends TProperties[string]>(record: R) =>
  labelled(assumed, {
    record,
    timeline: Type.Array(Event),
    next: Type.Unsafe<{ at: string; to: string } | null>({
      ...labelled(assumed, { at: Moment, to: Type.String() }),
      type: ['object', 'null'],
    }),
    legal: Type.Array(
      labelled(assumed, {
        verb: Type.String(),
        to: Type.String(),
        reasonCodes: Type.Optional(Type.Array(Type.String())),
        until: Type.Optional(Moment),
      }),
    ),
  })

export const ExplainedCollection = explained(Collection)
export const ExplainedMandate = explained(StoredMandate)
export const ExplainedPayoutLink = explained(StoredPayoutLink)
export const ExplainedBill = explained(Bill)

export const BillExplainQuery = Type.Object({ ...client, ...BillRegionQuery })

const Fidelity = OneOf('documented', 'assumed')

export const OutcomeTable = labelled(assumed, {
  data: Type.Array(
    labelled(assumed, { debtorReference: Type.String(), description: Type.String(), fidelity: Fidelity }),
  ),
})
export const ReasonCodeTable = labelled(assumed, {
  data: Type.Array(
    labelled(assumed, {
      code: Type.String(),
      name: Type.String(),
      phases: Type.Array(Type.String()),
      fidelity: Fidelity,
    }),
  ),
})
export const ErrorTable = labelled(assumed, {
  data: Type.Array(
    labelled(assumed, { code: Type.String(), status: Type.Integer(), when: Type.String(), fidelity: Fidelity }),
  ),
})

const ActivationSetting = OneOf('automatic', 'manual')
const Origins = Type.Array(
  Type.String({ format: 'origin', maxLength: 300, 'x-expected': 'an origin: scheme, host and port' }),
  {
    maxItems: 100,
    'x-expected': 'a list of at most 100 origins',
  },
)
export const Settings = labelled(assumed, { mandateActivation: ActivationSetting, allowedOrigins: Origins })
export const SettingsUpdate = labelled(assumed, {
  mandateActivation: Type.Optional(ActivationSetting),
  allowedOrigins: Type.Optional(Origins),
})

export { BillParams, Claim, CollectionParams, CollectionVerbBody, Decline, MandateParams, PayoutLinkParams }
