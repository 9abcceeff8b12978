import cookie from '@fastify/cookie'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { digestOf, isSame } from '../../core/digests.js'
import { errors } from '../../core/errors.js'
import { bearerOf } from '../../http/authenticate.js'
import { prefersHtml } from '../../http/pages/prefers-html.js'
import type { Timers } from '../../http/timers.js'
import { COOKIE, createSessions } from './session.js'
import { sendSignIn, signIn } from './sign-in.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route needs no admin token. */
    isOpen?: boolean
  }
}

declare module '../../http/request-context.js' {
  interface RequestContext {
    /** Whether the request has a session of the admin token. */
    isSignedIn?: boolean
  }
}

export interface AdminOptions {
  readonly adminToken: string
  readonly timers: Timers
  /** Returns the real time in milliseconds. */
  now(): number
}

/**
 * Requires the admin token on every route of its scope that is not open: as a bearer token, or for pages by a session.
 * A browser without a session gets a page that asks for the token. Refuses ADMIN_TOKEN_REQUIRED.
 */
export const admin = fp<AdminOptions>(async (app, { adminToken, timers, now }) => {
  // Digests have one length, so the comparison reveals nothing of the token's length.
  const right = digestOf(adminToken)
  const isRight = (token: string) => isSame(digestOf(token), right)
  const sessions = createSessions(adminToken)

  /** Whether a session admits to the answer. The calls of the control plane take the bearer token only. */
  const takesSession = (request: FastifyRequest) => {
    const { isPage, hasPage } = request.sandbox.route.config
    return isPage || (hasPage && prefersHtml(request))
  }

  // Its hook must come first. https://github.com/fastify/fastify-cookie
  await app.register(cookie)
  app.addHook('onRequest', (request, reply, next) => {
    const { route } = request.sandbox
    const value = request.cookies[COOKIE]
    const isSession = takesSession(request) && value !== undefined && sessions.isValid(value, now())
    request.sandbox.isSignedIn = isSession
    if (route.config.isOpen || isSession || isRight(bearerOf(request) ?? '')) {
      next()
      return
    }
    const refusal = errors.adminTokenRequired()
    if (!takesSession(request) || !prefersHtml(request)) throw refusal
    reply.code(refusal.status).headers(refusal.headers)
    sendSignIn(request, reply, {})
  })
  app.register(signIn, { isRight, sessions, timers, now })
})
