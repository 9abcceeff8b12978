import type { TSchema } from '@sinclair/typebox'
import { BillParams, BillUpdate } from '../../areas/bills/schemas.js'
import { CounterpartyParams, CounterpartyUpdate } from '../../areas/counterparties/schemas.js'
import type { Area, AreaName, CreatingStore } from '../../areas/index.js'
import { areas } from '../../areas/index.js'
import { MandateParams } from '../../areas/mandates/schemas.js'
import { CancelPayoutLink, PayoutLinkParams } from '../../areas/payout-links/schemas.js'
import type { Region } from '../../core/domain/regions.js'
import { errors } from '../../core/errors.js'
import { ownMember } from '../../core/own-member.js'
import { toTitle } from '../../core/words.js'
import type { Tenant } from '../../tenants/tenant.js'
import type { AnyCall, ControlRoute } from '../route.js'

/** A call that a step can make. */
export interface Operation {
  readonly params?: TSchema
  readonly body?: TSchema
  /** Makes the call with valid input. */
  act(call: AnyCall & { readonly region: Region }): unknown
}

/** Types a call of the API by its schemas. */
const api = <P = never, B = never>(
  schemas: { params?: TSchema & { static: P }; body?: TSchema & { static: B } },
  act: (tenant: Tenant, input: { region: Region; params: P; body: B }) => unknown,
): Operation => ({
  ...schemas,
  act: ({ tenant, region, params, body }) => act(tenant(), { region, params: params as P, body: body as B }),
})

/** The calls of the API by operationId that create a record: one for each area with a body for it. */
const creations = Object.fromEntries(
  Object.entries<Area>(areas).flatMap(([name, { create: schema, lifecycle, outcomes }]) => {
    const act: Operation['act'] = ({ request, tenant, region, body }) => {
      const store = tenant()[name as AreaName] as unknown as CreatingStore
      const create = () => store.create(body as never, region, request.sandbox.publicUrl)
      return outcomes === undefined ? create() : unsteered(tenant(), create)
    }
    return schema === undefined ? [] : [[`create${toTitle(lifecycle?.kind ?? name)}`, { body: schema, act }]]
  }),
)

/** The calls of the API by operationId that change a record. */
export const API: Readonly<Record<string, Operation>> = {
  ...creations,
  cancelMandate: api({ params: MandateParams }, ({ mandates }, { params }) => mandates.cancel(params.mandateReference)),
  cancelPayoutLink: api({ params: PayoutLinkParams, body: CancelPayoutLink }, (tenant, { region, params, body }) =>
    tenant.payoutLinks.cancel(region, params.payoutLinkId, body),
  ),
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
const isCallable = ({ method, operationId, isChange = method !== 'GET', isGlobal = false, prepare }: ControlRoute) =>
  (isChange || operationId.startsWith('explain')) && !isGlobal && prepare === undefined

/** Returns the call of a step. @throws INVALID_FIELD (no such call) */
export function operationOf(name: string, routes: readonly ControlRoute[]): Operation {
  const callable = routes.filter(isCallable)
  const { params, body, handle } = callable.find(({ operationId }) => operationId === name) ?? {}
  if (handle !== undefined) return { ...(params && { params }), ...(body && { body }), act: handle }
  const operation = ownMember(API, name)
  if (operation !== undefined) return operation
  const known = [...Object.keys(API), ...callable.map(({ operationId }) => operationId)]
  throw errors.invalid(null, `There is no such call. Known: ${known.join(', ')}.`)
}
