/** A host and an optional port (RFC 9110 §7.2), without user information and path. */
const HOST = /^(\[[0-9a-f:.]+\]|[\w.~!$&'()*+,;=%-]+)(:\d{1,5})?$/i
/** The zone of an IPv6 address (RFC 6874), which URL does not accept. It means something on one machine only. */
const ZONE = /%[^\]]*(?=\])/

/**
 * Returns the name or address of a Host header in its normal form: lower case, without a port and a final dot.
 * Undefined: it is not a host.
 */
export function hostNameOf(host: string): string | undefined {
  const text = host.replace(ZONE, '')
  if (!HOST.test(text) || !URL.canParse(`http://${text}`)) return undefined
  return new URL(`http://${text}`).hostname.replace(/\.$/, '')
}

/** Domains that no public DNS resolves (RFC 6761, RFC 6762, ICANN for `internal`; `svc` is that of Kubernetes). */
const LOCAL_DOMAINS = ['.localhost', '.local', '.internal', '.test', '.svc']

/** Whether no web page can get a host name by a public DNS: an IP address, a name without a dot, or a local domain. */
export function isLocalName(hostName: string): boolean {
  const isAddress = hostName.startsWith('[') || /^\d+(\.\d+){3}$/.test(hostName)
  return isAddress || !hostName.includes('.') || LOCAL_DOMAINS.some(domain => hostName.endsWith(domain))
}

/** Whether a text is a host name or address without a port, or `*.` and a name for all its subdomains. */
export function isHostPattern(text: string): boolean {
  const name = text.replace(/^\*\./, '')
  return /^([\w.-]+|\[[0-9a-f:.]+\])$/i.test(name) && hostNameOf(name) !== undefined
}

/** Whether a host name, as `hostNameOf` returns it, matches a pattern of the list. */
export function matchesHost(hostName: string, patterns: readonly string[]): boolean {
  return patterns.some(pattern => {
    const name = hostNameOf(pattern.replace(/^\*\./, ''))
    return pattern.startsWith('*.') ? hostName.endsWith(`.${name}`) : hostName === name
  })
}
