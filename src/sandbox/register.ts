import type { TSchema } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { failures } from '../http/schemas.js'
import { clientOf, noteSender } from '../storage/client-lock.js'
import type { ControlContext, ControlRoute } from './route.js'
import { ClientQuery, Nothing } from './schemas.js'

/** Adds the calls of the control plane. The service documents none of them, so all of them are labelled assumed. */
export function addRoutes(app: FastifyInstance, context: ControlContext): void {
  const { registry, storage, now, about, routes } = context
  for (const row of routes) {
    const { method, url, operationId, summary, description, handle, response, params, bodyLimit } = row
    const { status = 200, isGlobal = false, isOpen = false } = row
    const { isReplacing = false, errors = [], querystring = ClientQuery } = row
    const { isChange = method !== 'GET', body = method === 'POST' ? Nothing : undefined } = row
    const { creates, example, prepare, otherTypes } = row

    function act(request: FastifyRequest, reply: FastifyReply, realNow: number): unknown {
      const { params, query, body } = request
      const client = clientOf(request)
      const tenant = () => registry.tenant(client, realNow)
      reply.code(status)
      return handle({ ...context, request, reply, realNow, client, tenant, params, query, body })
    }

    /** Acts in the lock of the client, all or nothing if the call changes its tenant. */
    function actOnClient(request: FastifyRequest, reply: FastifyReply): unknown {
      const client = clientOf(request)
      request.sandbox.clientId = client
      if (method !== 'GET') nameClient(reply, client)
      const work = {
        isRead: () => method === 'GET',
        skipsDueWork: isReplacing,
        run(realNow: number) {
          const tenant = isChange ? registry.tenant(client, realNow) : registry.peek(client)
          if (tenant === undefined || method === 'GET') return act(request, reply, realNow)
          noteSender(request, tenant)
          return tenant.attempt(() => act(request, reply, realNow))
        },
      }
      return storage.transact(client, work, creates?.(request.body))
    }

    const handler = isGlobal
      ? (request: FastifyRequest, reply: FastifyReply) => act(request, reply, now())
      : actOnClient

    app.route({
      method,
      url,
      // A typo must not act on another tenant, nor leave a test green.
      config: { isStrict: true, isOpen },
      ...(bodyLimit !== undefined && { bodyLimit: bodyLimit(about) }),
      schema: {
        operationId,
        summary,
        ...(description !== undefined && { description }),
        'x-command': commandOf(row),
        tags: [url.split('/')[1] || 'overview'],
        'x-fidelity': 'assumed',
        'x-error-codes': isGlobal ? errors : ['CLIENT_NOT_FOUND', ...errors],
        ...(example !== undefined && { 'x-example': example }),
        ...(isOpen && { security: [] }),
        ...(params !== undefined && { params }),
        querystring,
        ...(body !== undefined && { body }),
        response: { [status]: otherTypes === undefined ? response : byType(response, otherTypes), ...failures },
      },
      handler:
        prepare === undefined
          ? handler
          : async (request, reply) => {
              await prepare(context)
              return handler(request, reply)
            },
    })
  }
}

/**
 * Returns the command of a call: the words of its path, such as `clock advance`. A path of one word gets the verb of the
 * operationId behind it, such as `faults arm`, unless the call is the list or has the same name.
 */
function commandOf({ command, method, url, operationId }: ControlRoute): string {
  const [noun = 'overview', ...others] = url.split('/').filter(word => word !== '' && !word.startsWith(':'))
  const verb = operationId.replace(/[A-Z].*/, '')
  const isWhole = verb === noun || (method === 'GET' && !url.includes(':'))
  return command ?? [noun, ...(others.length > 0 || isWhole ? others : [verb])].join(' ')
}

/** The longest client id that an answer names. An unknown id can be as long as a URL. */
const MOST_NAMED = 1000

/** Names the client of a call that changes something in its answer, also in a refusal. */
export function nameClient(reply: FastifyReply, clientId: string): void {
  if (clientId.length <= MOST_NAMED) reply.header('sandbox-client', encodeURIComponent(clientId))
}

/** Returns the schemas of an answer by media type. */
const byType = (response: TSchema, others: Readonly<Record<string, TSchema>>) => ({
  description: 'Success.',
  content: Object.fromEntries(
    Object.entries({ 'application/json': response, ...others }).map(([type, schema]) => [type, { schema }]),
  ),
})
