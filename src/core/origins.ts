/** The allowed SDK origins of a tenant that configures none: partners of a sandbox are local (decisions §8). */
export const DEFAULT_ALLOWED_ORIGINS: readonly string[] = ['http://localhost:*', 'http://127.0.0.1:*']

/** Whether a text is a web origin (RFC 6454 §6.2): scheme http or https, host, and optionally a port. */
export function isOrigin(text: string): boolean {
  return /^https?:\/\/([a-z0-9._~-]+|\[[0-9a-f:.]+\])(:\d{1,5})?$/i.test(text) && URL.canParse(text)
}

const ANY_PORT = /:\*$/

/** Whether a text is an origin, or an origin with `*` as its port. */
export const isOriginPattern = (text: string): boolean => isOrigin(text.replace(ANY_PORT, ':1'))

/** Whether an origin matches a pattern of the list. Case and the default port make no difference. */
export function isAllowedOrigin(origin: string, patterns: readonly string[]): boolean {
  const given = new URL(origin)
  return patterns.some(pattern => {
    const allowed = new URL(pattern.replace(ANY_PORT, ''))
    if (!ANY_PORT.test(pattern)) return allowed.origin === given.origin
    return allowed.protocol === given.protocol && allowed.hostname === given.hostname
  })
}
