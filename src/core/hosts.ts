/** An IPv6 address, or a name of DNS or an IPv4 address. URL also takes characters of a shell: commands show the host. */
const NAME = String.raw`(\[[0-9a-f:.]+\]|[\w.-]+)`
/** A host and an optional port (RFC 9110 §7.2), without user information and path. */
const HOST = new RegExp(String.raw`^${NAME}(:\d{0,5})?$`, 'i')
const WITHOUT_PORT = new RegExp(`^${NAME}$`, 'i')
/** The zone of an IPv6 address (RFC 6874 §2), which URL does not accept. It means something on one machine only. */
const ZONE = /%[\w.~%-]+(?=\])/
/** The longest name of DNS with a final dot (RFC 1035 §2.3.4), and a port. */
const LONGEST = '.:65535'.length + 253

/** The parts of a Host header in their normal form. */
export interface Host {
  /** The host and the port, as in a URL of HTTP: `localhost:8080`. Port 80 and a zone are left out. */
  readonly host: string
  /** The name or address, without a final dot: `localhost`. */
  readonly name: string
}

/** Parses a Host header. Undefined if it is not a host. */
export function parseHost(given: string): Host | undefined {
  if (given.length > LONGEST) return undefined
  const text = given.replace(ZONE, '')
  if (!HOST.test(text) || !URL.canParse(`http://${text}`)) return undefined
  const { host, hostname } = new URL(`http://${text}`)
  const name = hostname.replace(/\.$/, '')
  return name === '' ? undefined : { host, name }
}

/** Domains that no public DNS resolves (RFC 6761, RFC 6762, ICANN for `internal`; Kubernetes has `svc`). */
const LOCAL_DOMAINS = ['.localhost', '.local', '.internal', '.test', '.svc']

/** Whether no web page can get a host name by a public DNS: an IP address, a name without a dot, or a local domain. */
export function isLocalName(hostName: string): boolean {
  const isAddress = hostName.startsWith('[') || /^\d+(\.\d+){3}$/.test(hostName)
  return isAddress || !hostName.includes('.') || LOCAL_DOMAINS.some(domain => hostName.endsWith(domain))
}

/** Whether a text is a host name or address without a port, or `*.` and a name for all its subdomains. */
export function isHostPattern(text: string): boolean {
  const name = text.replace(/^\*\./, '')
  return WITHOUT_PORT.test(name) && parseHost(name) !== undefined
}

/** Whether a host name, as `parseHost` returns it, matches a pattern of the list. */
export function matchesHost(hostName: string, patterns: readonly string[]): boolean {
  return patterns.some(pattern => {
    const name = parseHost(pattern.replace(/^\*\./, ''))?.name
    return pattern.startsWith('*.') ? hostName.endsWith(`.${name}`) : hostName === name
  })
}
