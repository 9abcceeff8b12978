import type { Static } from '@sinclair/typebox'
import { errors } from '../../core/errors.js'
import { formatInstant } from '../../core/time/time.js'
import type { Tenant } from '../../tenants/tenant.js'
import { nameClient } from '../register.js'
import { call } from '../route.js'
import { Cleared, Nothing } from '../schemas.js'
import * as schemas from './schemas.js'

/** Returns the summary of a tenant at a real time, which does no due work. */
export const summaryOf = ({ clientId, fixture, clock, counts }: Tenant, realNow: number) => ({
  clientId,
  fixture,
  counts: counts(),
  now: formatInstant(clock.timeAt(realNow)),
})

export const listClients = call({
  isGlobal: true,
  summary: 'All tenants: client id, fixture, record counts, time',
  response: schemas.ClientList,
  async handle({ storage, registry }) {
    const all = await storage.all(summaryOf)
    return { data: all.map(one => ({ ...one, hasKnownSecret: registry.knownSecretOf(one.clientId) !== undefined })) }
  },
})

export const verifyCredentials = call({
  isGlobal: true,
  querystring: Nothing,
  errors: ['INVALID_CLIENT'],
  summary: 'Check the secret of a client; an unknown client is registered as by its first token request',
  description: 'It issues no token, triggers no fault and is not in the request log.',
  isChange: false,
  body: schemas.ClientCredentials,
  response: schemas.TenantSummary,
  handle: ({ registry, storage, reply, body: { client_id, client_secret } }) => {
    nameClient(reply, client_id)
    return storage.transact(client_id, {
      isRead: () => registry.has(client_id),
      run: realNow => summaryOf(registry.authenticate(client_id, client_secret, realNow), realNow),
    })
  },
})

export const resetClient = call({
  isReplacing: true,
  summary: 'Put the tenant back to its fixture: records, clock, ids, settings, faults, requests, events, tokens',
  description:
    'Earlier tokens become invalid. The numbers of events and requests start at 1 again. The coverage starts ' +
    'again, too.',
  isChange: false,
  response: schemas.TenantSummary,
  handle: ({ registry, client, realNow }) => summaryOf(registry.reset(client, realNow), realNow),
})

export const forkClient = call({
  errors: ['DUPLICATE_REFERENCE'],
  summary: 'Create another tenant as an exact copy of this one; without clientSecret, it gets the same secret',
  description:
    'The copy also has the clock, settings, faults and events. Its request log and coverage are empty. Both ' +
    'tenants generate the same ids for the same requests.',
  isChange: false,
  creates: ({ clientId }: Static<typeof schemas.ForkRequest>) => clientId,
  body: schemas.ForkRequest,
  status: 201,
  response: schemas.ForkResult,
  handle({ registry, client, realNow, body }) {
    const { clientId } = registry.fork(client, body, realNow)
    return { clientId }
  },
})

export const removeClient = call({
  isReplacing: true,
  summary: 'Remove a tenant; the demo client and listed clients are reset instead',
  description:
    'The tokens of the client become invalid, and its id is free. The demo client and the clients of ' +
    '`SANDBOX_CLIENTS` stay: `removed` is then 0.',
  isChange: false,
  params: schemas.ClientParams,
  querystring: Nothing,
  response: Cleared,
  handle({ registry, realNow, params: { clientId } }) {
    if (!registry.has(clientId)) throw errors.clientNotFound(clientId, 'clientId')
    return { removed: registry.remove(clientId, realNow) ? 1 : 0 }
  },
})

export const createToken = call({
  command: 'tokens create',
  summary: 'Issue an access token of the tenant without its secret',
  description: 'It is no request of the app: it triggers no fault, and is not in the request log.',
  response: schemas.CreatedToken,
  handle: ({ tenant }) => tenant().tokens.issue(),
})

export const expireTokens = call({
  summary: 'Every token of the tenant is expired from now on',
  description: 'The app gets 401 EXPIRED_TOKEN. A new token is valid.',
  response: schemas.TokensExpired,
  handle: ({ tenant }) => {
    const { clientId, tokens, clock } = tenant()
    tokens.expireAll()
    return { clientId, now: formatInstant(clock.now()) }
  },
})
