import type { TSchema } from '@sinclair/typebox'
import { BillParams, BillUpdate, NewBill } from '../../areas/bills/schemas.js'
import { CounterpartyParams, CounterpartyUpdate } from '../../areas/counterparties/schemas.js'
import { NewCollection } from '../../areas/direct-debit/schemas.js'
import { MandateParams, NewMandate } from '../../areas/mandates/schemas.js'
import { CancelPayoutLink, NewPayoutLink, PayoutLinkParams } from '../../areas/payout-links/schemas.js'
import { errors } from '../../core/errors.js'
import type { Region } from '../../core/rules/regions.js'
import type { Tenant } from '../../tenants/tenant.js'
import type { ControlCall, ControlRoute } from '../control-route.js'

/** A call of the control plane that runs a scenario. */
export type Call = ControlCall<unknown, unknown, unknown>

/** A call that a step can make. */
export interface Operation {
  readonly params?: TSchema
  readonly body?: TSchema
  /** Makes the call with valid input. */
  act(call: Call & { readonly region: Region }): unknown
}

/** Types a call of the API by its schemas. */
const api = <P = never, B = never>(
  schemas: { params?: TSchema & { static: P }; body?: TSchema & { static: B } },
  act: (tenant: Tenant, input: { region: Region; params: P; body: B; publicUrl: string }) => unknown,
): Operation => ({
  ...schemas,
  act: ({ request, tenant, region, params, body }) =>
    act(tenant(), { region, params: params as P, body: body as B, publicUrl: request.sandbox.publicUrl }),
})

/** The calls of the API by operationId that change a record. */
const API: Readonly<Record<string, Operation>> = {
  createMandate: api({ body: NewMandate }, ({ mandates }, { body }) => mandates.create(body)),
  cancelMandate: api({ params: MandateParams }, ({ mandates }, { params }) => mandates.cancel(params.mandateReference)),
  createCollection: api({ body: NewCollection }, (tenant, { body }) =>
    unsteered(tenant, () => tenant.collections.create(body)),
  ),
  createPayoutLink: api({ body: NewPayoutLink }, (tenant, { region, body, publicUrl }) =>
    unsteered(tenant, () => tenant.payoutLinks.create(region, body, publicUrl)),
  ),
  cancelPayoutLink: api({ params: PayoutLinkParams, body: CancelPayoutLink }, (tenant, { region, params, body }) =>
    tenant.payoutLinks.cancel(region, params.payoutLinkId, body),
  ),
  createBill: api({ body: NewBill }, ({ bills }, { region, body }) => bills.create(region, body)),
  updateBill: api({ params: BillParams, body: BillUpdate }, ({ bills }, { region, params, body }) =>
    bills.update(region, params.uniqueReferenceIdentifier, body),
  ),
  updateCounterparty: api(
    { params: CounterpartyParams, body: CounterpartyUpdate },
    ({ counterparties }, { region, params, body }) => counterparties.update(region, params.counterpartyReference, body),
  ),
}

/** Creates a record without its armed outcome, which waits for a record of the app. */
function unsteered<T>({ outcomes }: Tenant, create: () => T): T {
  const armed = outcomes.list()
  outcomes.clear()
  const created = create()
  outcomes.restore(armed)
  return created
}

/** Whether a step can make a call of the control plane: one that changes a tenant in place, or explains a record. */
const isCallable = ({ method, operationId, isRecorded = method !== 'GET', isGlobal = false, prepare }: ControlRoute) =>
  (isRecorded || operationId.startsWith('explain')) && !isGlobal && prepare === undefined

/** Returns the call of a step. @throws INVALID_FIELD (no such call) */
export function operationOf(name: string, routes: readonly ControlRoute[]): Operation {
  const callable = routes.filter(isCallable)
  const { params, body, handle } = callable.find(({ operationId }) => operationId === name) ?? {}
  if (handle !== undefined) return { ...(params && { params }), ...(body && { body }), act: handle }
  if (Object.hasOwn(API, name)) return API[name] as Operation
  const known = [...Object.keys(API), ...callable.map(({ operationId }) => operationId)]
  throw errors.invalid(null, `There is no such call. Known: ${known.join(', ')}.`)
}
