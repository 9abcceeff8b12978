/** The address of a page: its path below the console, its client, and its other parameters. All links keep the client. */
import type { Fields } from './types.js'

/** The server, with a trailing slash. A proxy may serve it below a path. This file is in `/_sandbox/console/assets/`. */
export const ROOT: string = new URL('../../../', import.meta.url).href
export const CONSOLE: string = new URL('_sandbox/console', ROOT).href

export interface Address {
  /** Empty, or such as `/collections/COL-0001`. */
  readonly path: string
  readonly segments: readonly string[]
  /** Empty: the address names none. */
  readonly client: string
  readonly query: Fields
}

/** Parses the URL of a page. */
export function parseAddress(href: string): Address {
  const url = new URL(href)
  const path = url.pathname.slice(new URL(CONSOLE).pathname.length).replace(/\/$/, '')
  const { client = '', ...query } = Object.fromEntries(url.searchParams)
  return { path, segments: path.split('/').slice(1).map(decode), client, query }
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** Writes parameters as a query. Those without a value are left out. */
export const queryOf = (values: Readonly<Record<string, string | undefined>>): string =>
  `${new URLSearchParams(Object.entries(values).filter((pair): pair is [string, string] => !!pair[1]))}`

/** Returns the address of a page. A path that begins with `../` is one of the server, such as `../docs`. */
export function addressOf(
  path: string,
  client: string,
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const base = path.startsWith('../') ? new URL(path.slice(3), ROOT).href : CONSOLE + path
  const [page, hash] = base.split('#')
  return `${page}?${queryOf({ client, ...query })}${hash === undefined ? '' : `#${hash}`}`
}

/** Returns a path of segments, such as `/collections/COL-0001`, or undefined if a text is not valid Unicode, which is invalid in a URL. */
export const pathOf = (...segments: readonly string[]): string | undefined =>
  segments.every(segment => segment.isWellFormed())
    ? segments.map(segment => `/${encodeURIComponent(segment)}`).join('')
    : undefined
