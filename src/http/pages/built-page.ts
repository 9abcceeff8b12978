import type { FastifyRequest } from 'fastify'
import { rootOf } from '../url.js'

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Escapes a text for HTML. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, character => ENTITIES[character] as string)

/** The longest client id of an address that a page shows. */
const LONGEST = 1000

/**
 * Fills in a page that the build has written (scripts/console.js): the way to the root, since a proxy may serve the sandbox below
 * a path prefix, and the client of the address, which is in each link.
 */
export function fillPage(html: string, { url, query }: Pick<FastifyRequest, 'url' | 'query'>): string {
  const { client } = query as Readonly<Record<string, unknown>>
  const given = typeof client === 'string' && client.length <= LONGEST ? client : ''
  const search = given === '' ? '' : `?${new URLSearchParams({ client: given })}`
  // A function, since a text can hold `$`.
  return html
    .replaceAll('{{root}}', () => rootOf(url))
    .replaceAll('{{query}}', () => escapeHtml(search))
    .replaceAll('{{client}}', () => escapeHtml(given || 'sandbox-client'))
}
