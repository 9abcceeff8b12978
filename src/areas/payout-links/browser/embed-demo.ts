/** The script of the demo of an embedded payout link: the page of a partner, with the calls of the partner's server. */
import type { ColorScheme, Font } from '../theme.js'

/** The other name of this machine, by which the page and its frame have two origins. Behind a proxy there is one. */
const OTHER_NAMES = new Map([
  ['localhost', '127.0.0.1'],
  ['127.0.0.1', 'localhost'],
])

/** The base of the service. A proxy may serve it below a path. */
const service = new URL('..', location.href)
service.hostname = OTHER_NAMES.get(location.hostname) ?? location.hostname

const element = <E extends HTMLElement>(id: string) => document.getElementById(id) as E

function log(text: string) {
  const item = document.createElement('li')
  item.textContent = text
  element('log').append(item)
}

/** Calls the service. @throws Error with the code and message of a refusal */
async function call<T>(method: string, path: string, body?: object, headers = {}): Promise<T> {
  const isForm = body instanceof URLSearchParams
  const response = await fetch(`../${path}`, {
    method,
    headers: { ...headers, ...(body !== undefined && !isForm && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
  })
  const answer = await response.json()
  if (!response.ok) throw Object.assign(new Error(`${answer.code}: ${answer.message}`), { code: answer.code })
  return answer
}

interface PayoutLink {
  readonly payoutLinkId: string
  readonly url: string
}

/** Creates an embedded payout link. On a real site the partner's server does this: its secret stays there. */
async function createPayoutLink(): Promise<PayoutLink> {
  const credentials = {
    grant_type: 'client_credentials',
    client_id: 'sandbox-client',
    client_secret: 'sandbox-secret',
  }
  const issued = await call<{ access_token: string }>('POST', 'api/v1/oauth/token', new URLSearchParams(credentials))
  const link = {
    amount: '64.00',
    currency: 'EUR',
    payoutMethod: 'SEPA-INSTANT',
    uiMode: 'embedded',
    origin: location.origin,
    remarks: 'Refund of a lost parcel',
  }
  const headers = { authorization: `Bearer ${issued.access_token}`, 'x-region': 'EU' }
  const create = () => call<PayoutLink>('POST', 'api/v1/payout-links', link, headers)
  try {
    return await create()
  } catch (error) {
    if ((error as { code?: string }).code !== 'ORIGIN_NOT_ALLOWED') throw error
    await allowOrigin()
    return create()
  }
}

/** Adds the origin of this page to the list of the client, as the operator of the service would. */
async function allowOrigin() {
  const { allowedOrigins } = await call<{ allowedOrigins: string[] }>('GET', '_sandbox/settings')
  log(`PUT /_sandbox/settings: ${location.origin} may embed links`)
  await call('PUT', '_sandbox/settings', { allowedOrigins: [...allowedOrigins, location.origin] })
}

/** Returns the options of the form. */
function optionsOf(form: HTMLFormElement) {
  const given = Object.fromEntries(new FormData(form)) as Record<string, string>
  const { locale, colorScheme, accent, radius, font } = given
  return {
    locale: locale as string,
    colorScheme: colorScheme as ColorScheme,
    theme: { accent: accent as string, radius: Number(radius), ...(font && { font: font as Font }) },
  }
}

/** Returns the link that the address names, of any client: `?client=acme&link=pl_2mT9xQk4Zr`. */
function linkOfAddress(): PayoutLink | undefined {
  const { link, client = 'sandbox-client' } = Object.fromEntries(new URLSearchParams(location.search))
  if (link === undefined) return undefined
  return { payoutLinkId: encodeURIComponent(link), url: `${service}?client=${encodeURIComponent(client)}` }
}

let unmount = () => {}

async function start(form: HTMLFormElement) {
  unmount()
  element('log').replaceChildren()
  try {
    const { mountPayoutLink } = (await import(`${service}sdk/v1.js`)) as typeof import('./sdk.js')
    const { payoutLinkId, url } = linkOfAddress() ?? (await createPayoutLink())
    const page = new URL(`pay/${payoutLinkId}${new URL(url).search}`, service).href
    const options = optionsOf(form)
    const called = (name: string) => (event: object) => log(`${name} ${JSON.stringify(event)}`)
    log(`mountPayoutLink(element, ${JSON.stringify({ url: page, ...options })})`)
    const mounted = mountPayoutLink(element('checkout'), {
      url: page,
      ...options,
      onReady: called('onReady'),
      onClaimed: called('onClaimed'),
      onPaid: called('onPaid'),
      onFailed: called('onFailed'),
      onDeclined: called('onDeclined'),
      onExpired: called('onExpired'),
      onError: called('onError'),
    })
    unmount = mounted.unmount
  } catch (error) {
    log(`failed: ${(error as Error).message}`)
  }
}

element('origins').textContent = `${location.origin} → ${service.origin}`
element<HTMLSelectElement>('locale').value = /^(de|fr)/.exec(navigator.language)?.[0] ?? 'en'
element('options').addEventListener('submit', event => {
  event.preventDefault()
  start(event.currentTarget as HTMLFormElement)
})
if (linkOfAddress() !== undefined) start(element<HTMLFormElement>('options'))
