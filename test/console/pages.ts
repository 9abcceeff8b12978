import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { newClient } from '../helper.js'

/** Pages of the console as a browser without JavaScript uses them. */

export const CONSOLE = '/_sandbox/console'

export interface PageOptions {
  readonly client?: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
}

const addressOf = (path: string, { client = 'acme', query = {} }: PageOptions = {}) =>
  `${CONSOLE}${path}?${new URLSearchParams({ client, ...query })}`

/** Opens a page. @throws Error if two elements of it have one id: labels and the renewal in place go by ids */
export async function open(app: FastifyInstance, path: string, options: PageOptions = {}) {
  const answer = await app.inject({
    url: addressOf(path, options),
    headers: { accept: 'text/html', ...options.headers },
  })
  const ids = [...answer.payload.matchAll(/<[^>]* id="([^"]*)"/g)].map(([, id]) => id)
  const repeated = ids.filter((id, index) => ids.indexOf(id) !== index)
  if (repeated.length > 0) throw new Error(`${path} has several elements of the ids ${repeated}.`)
  return answer
}

const TEXTS: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
}
export const toText = (text: string) => text.replace(/&(?:amp|lt|gt|quot|#39);/g, entity => TEXTS[entity] as string)

const attribute = (tag: string, name: string) => {
  const value = new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1]
  return value === undefined ? undefined : toText(value)
}

/** A form of a page, with its fields as a browser would send them. */
export interface PageForm {
  /** Empty: it has none. */
  readonly id: string
  readonly method: string
  readonly action: string
  readonly fields: Readonly<Record<string, string>>
  /** The names of the fields that a person fills in. */
  readonly shown: readonly string[]
}

/** Lists the forms of a page. @throws Error if a form has two fields of one name */
export const formsIn = (html: string): PageForm[] =>
  [...html.matchAll(/(<form[^>]*>)(.*?)<\/form>/gs)].map(([, tag = '', content = '']) => {
    const of = { id: attribute(tag, 'id') ?? '', method: attribute(tag, 'method') ?? 'get' }
    const fields: Record<string, string> = {}
    const shown: string[] = []
    const add = (field: string, value: string) => {
      const name = attribute(field, 'name')
      const isFurtherChoice = attribute(field, 'type') === 'radio' && Object.hasOwn(fields, name ?? '')
      if (name === undefined || isFurtherChoice) return
      if (Object.hasOwn(fields, name)) throw new Error(`The form ${of.id} has two fields ${name}.`)
      fields[name] = value
      if (attribute(field, 'type') !== 'hidden') shown.push(name)
    }
    for (const [input] of content.matchAll(/<input[^>]*>/g)) add(input, attribute(input, 'value') ?? '')
    for (const [, textarea = '', text = ''] of content.matchAll(/(<textarea[^>]*>)(.*?)<\/textarea>/gs)) {
      add(textarea, toText(text))
    }
    for (const [, select = '', options = ''] of content.matchAll(/(<select[^>]*>)(.*?)<\/select>/gs)) {
      const all = [...options.matchAll(/<option[^>]*>/g)].map(([option]) => option)
      const chosen = all.find(option => / selected/.test(option)) ?? all[0] ?? ''
      add(select, attribute(chosen, 'value') ?? '')
    }
    return { ...of, action: attribute(tag, 'action') ?? '', fields, shown }
  })

/** Returns a form of a page. @throws Error if the page has no such form */
export function fieldsOf(html: string, id: string): PageForm {
  const form = formsIn(html).find(one => one.id === id)
  if (form === undefined) throw new Error(`There is no form ${id}.`)
  return form
}

/** Returns the ids of the forms of a page that act. */
export const formsOf = (html: string): string[] =>
  formsIn(html).flatMap(({ id, method }) => (method === 'post' && id !== '' ? [id] : []))

/**
 * Sends a form.
 * @param path the path below the console, with its query or for the client `acme`
 * @param fields a text is sent as it is
 */
export const sendFields = (
  app: FastifyInstance,
  path: string,
  fields: Readonly<Record<string, string>> | string,
  headers: PageOptions['headers'] = {},
): Promise<LightMyRequestResponse> =>
  app.inject({
    method: 'POST',
    url: path.includes('?') ? CONSOLE + path : addressOf(path),
    headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: typeof fields === 'string' ? fields : new URLSearchParams(fields).toString(),
  })

/** Opens a page and sends one of its forms, with some fields changed. */
export async function submit(
  app: FastifyInstance,
  path: string,
  id: string,
  changes: Readonly<Record<string, string>> = {},
  options: PageOptions = {},
): Promise<LightMyRequestResponse> {
  const { fields, action } = fieldsOf((await open(app, path, options)).payload, id)
  const { pathname, search } = new URL(action, `http://sandbox${CONSOLE}${path}`)
  return sendFields(app, pathname.slice(CONSOLE.length) + search, { ...fields, ...changes }, options.headers)
}

/** Follows the redirection of a form. Returns the page, and its address below the console. */
export async function follow(app: FastifyInstance, path: string, { headers }: LightMyRequestResponse) {
  const { pathname, search } = new URL(String(headers.location), `http://sandbox${CONSOLE}${path}`)
  const { payload } = await app.inject({ url: pathname + search, headers: { accept: 'text/html' } })
  return { payload, path: pathname.slice(CONSOLE.length), notice: noticeOf(payload) }
}

/** Returns the functions for the pages of one client. */
export function pagesOf(app: FastifyInstance, client: string) {
  const send = (path: string, id: string, changes: PageForm['fields'] = {}, options: PageOptions = {}) =>
    submit(app, path, id, changes, { client, ...options })
  return {
    open: (path: string, options: PageOptions = {}) => open(app, path, { client, ...options }),
    /** Returns a page as HTML. */
    read: async (path: string, query: PageOptions['query'] = {}) => (await open(app, path, { client, query })).payload,
    submit: send,
    /** Sends a form, and follows its redirection. */
    act: async (path: string, id: string, changes: PageForm['fields'] = {}) =>
      follow(app, path, await send(path, id, changes)),
  }
}

/** Returns a new client with its pages, on the server that tests share. */
export async function newConsole() {
  const client = await newClient()
  return { ...client, ...pagesOf(client.app, client.clientId) }
}

/** Returns the text of the notice of a page. */
export const noticeOf = (html: string) =>
  toText((/<p id="notice"[^>]*>(.*?)<\/p>/s.exec(html)?.[1] ?? '').replaceAll(/<[^>]*>/g, ''))
