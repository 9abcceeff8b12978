/** A web origin, as RFC 6454 §6.2 writes it: scheme http or https, host, and a port where it is not the usual one. */
export function isOrigin(text: string): boolean {
  return /^https?:\/\/([a-z0-9._~-]+|\[[0-9a-f:.]+\])(:\d{1,5})?$/i.test(text) && URL.canParse(text)
}

/** Whether an origin is on a list. Browsers send origins in lower case and without the usual port; so they compare. */
export function isOneOf(origin: string, allowed: readonly string[]): boolean {
  return allowed.some(candidate => new URL(candidate).origin === new URL(origin).origin)
}
