import formbody from '@fastify/formbody'
import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify'
import { errors } from '../../core/errors.js'
import { sendError, toApiError } from '../../http/error-handler.js'
import { FORM, FORM_LIMIT, parseForm } from '../../http/form.js'
import { CONSOLE } from '../../http/home.js'
import { pageHeaders } from '../../http/pages/headers.js'
import { prefersHtml } from '../../http/pages/prefers-html.js'
import type { Timers } from '../../http/timers.js'
import { pathOf } from '../../http/url.js'
import type { Sessions } from './session.js'
import { COOKIE, SESSION_SECONDS } from './session.js'
import { renderSignIn, styles } from './views/sign-in.js'

export interface SignInOptions {
  /** Compares a text with the admin token, in constant time. */
  isRight(token: string): boolean
  readonly sessions: Sessions
  readonly timers: Timers
  /** Returns the real time in milliseconds. */
  now(): number
}

/** The answer to a wrong token comes after this time. */
const DELAY_MS = 1000
/** The most answers that wait at the same time. With the delay, it bounds the guesses in a second. */
const MOST_WAITING = 5

const ROOT = '/_sandbox/'
const PAGE_HEADERS = pageHeaders(styles)

const SignInForm = Type.Object({
  token: Type.String({ 'x-expected': 'the admin token' }),
  to: Type.Optional(Type.String({ 'x-expected': 'a page below /_sandbox' })),
})

/** A page, and no call of the control plane. */
const page = {
  bodyLimit: FORM_LIMIT,
  config: { isPage: true, isOpen: true, consumes: FORM },
  schema: { hide: true },
} as const

/** The page by which a browser gives the admin token, and the end of its session. */
export const signIn: FastifyPluginCallback<SignInOptions> = (app, options, done) => {
  const { isRight, sessions, timers, now } = options
  let waiting = 0

  /** Holds an answer back. */
  async function delay() {
    waiting++
    await new Promise<void>(resolve => timers.later(DELAY_MS, resolve))
    waiting--
  }

  /**
   * The attributes of the cookie. Without a path, it is for the folder of the form as the browser sees it (RFC 6265 §5.1.4).
   * A form says by its origin whether the browser uses HTTPS.
   */
  const cookieOf = ({ headers: { origin }, sandbox: { publicUrl } }: FastifyRequest) => ({
    httpOnly: true,
    sameSite: 'strict' as const,
    secure: (origin ?? publicUrl).startsWith('https:'),
  })

  app.register(formbody, { parser: parseForm })
  app.setErrorHandler((error, request, reply) => {
    const refusal = toApiError(error, request)
    if (!prefersHtml(request)) return sendError(reply, refusal)
    reply.code(refusal.status).headers(refusal.headers)
    return sendSignIn(request, reply, { problem: refusal.message })
  })

  app.get('/sign-in', page, (request, reply) => {
    const value = request.cookies[COOKIE]
    return sendSignIn(request, reply, { isSignedIn: value !== undefined && sessions.isValid(value, now()) })
  })

  app.post('/sign-in', { ...page, schema: { hide: true, body: SignInForm } }, async (request, reply) => {
    const { token, to } = request.body as Static<typeof SignInForm>
    if (waiting >= MOST_WAITING) throw errors.rateLimited(DELAY_MS / 1000)
    if (!isRight(token)) {
      await delay()
      throw errors.adminTokenRequired('This is not the admin token.')
    }
    reply.setCookie(COOKIE, sessions.begin(now()), { ...cookieOf(request), maxAge: SESSION_SECONDS })
    reply.header('cache-control', 'no-store')
    return reply.redirect(targetOf(to), 303)
  })

  app.post('/sign-out', page, (request, reply) => {
    const value = request.cookies[COOKIE]
    if (value !== undefined && sessions.isValid(value, now())) sessions.end(value)
    // `clearCookie` would name the path `/`.
    reply.setCookie(COOKIE, '', { ...cookieOf(request), maxAge: 0 }).header('cache-control', 'no-store')
    return reply.redirect('sign-in', 303)
  })
  done()
}

/** Sends the page with the form. After it, the browser goes back to the page that it wanted to see. */
export function sendSignIn(
  request: FastifyRequest,
  reply: FastifyReply,
  { problem, isSignedIn = false }: { readonly problem?: string; readonly isSignedIn?: boolean },
) {
  const path = pathOf(request.url)
  const { to } = (request.body ?? {}) as { to?: unknown }
  const segments = path.split('/').slice(2)
  // Relative to the page, since a proxy may serve the sandbox under a path of its own.
  const base = '../'.repeat(segments.length - 1)
  const isWanted = request.method === 'GET' && !path.endsWith('/sign-in')
  const own = `${segments.join('/')}${request.url.slice(path.length)}`
  const wanted = isWanted ? own : targetOf(typeof to === 'string' ? to : undefined)
  // A link of another site sends no cookie. The page that loads itself does.
  const reloads = isWanted && request.headers['sec-fetch-site'] === 'cross-site'
  return reply
    .headers({ ...PAGE_HEADERS, vary: 'accept' })
    .type('text/html; charset=utf-8')
    .send(renderSignIn({ base, to: wanted, problem, isSignedIn, reloads }))
}

/** The longest address to go back to, in characters: browsers bound the headers of an answer. */
const LONGEST_ADDRESS = 8000

/** Returns the address of a page below `/_sandbox`, relative to it. Any other address becomes that of the console. */
function targetOf(to = ''): string {
  const base = `http://sandbox${ROOT}`
  if (to !== '' && to.length <= LONGEST_ADDRESS && URL.canParse(to, base)) {
    const { href } = new URL(to, base)
    if (href.startsWith(base)) return `./${href.slice(base.length)}`
  }
  return `.${CONSOLE.slice(ROOT.length - 1)}`
}
