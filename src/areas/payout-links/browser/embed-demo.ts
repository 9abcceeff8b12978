/** The script of the demo of an embedded payout link: the page of a partner, with the calls of the partner's server. */

/** The service, by the other name of this machine: the page and the service are of two origins. */
const service = new URL(location.origin)
service.hostname = location.hostname === 'localhost' ? '127.0.0.1' : 'localhost'
const { origin } = service

const element = (id: string) => document.getElementById(id) as HTMLElement

function log(text: string) {
  const item = document.createElement('li')
  item.textContent = text
  element('log').append(item)
}

/** Creates an embedded payout link. On a real site the partner's server does this: its secret stays there. */
async function createPayoutLink(): Promise<string> {
  const credentials = {
    grant_type: 'client_credentials',
    client_id: 'sandbox-client',
    client_secret: 'sandbox-secret',
  }
  const issued = await fetch('../api/v1/oauth/token', { method: 'POST', body: new URLSearchParams(credentials) })
  const { access_token: token } = (await issued.json()) as { access_token: string }
  const created = await fetch('../api/v1/payout-links', {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'x-region': 'EU', 'content-type': 'application/json' },
    body: JSON.stringify({
      amount: '64.00',
      currency: 'EUR',
      payoutMethod: 'SEPA-INSTANT',
      uiMode: 'embedded',
      origin: location.origin,
      remarks: 'Refund of a lost parcel',
    }),
  })
  const { url, message } = (await created.json()) as { url: string; message?: string }
  if (!created.ok) throw new Error(message)
  return url
}

let unmount = () => {}

async function start() {
  unmount()
  element('log').replaceChildren()
  try {
    const base = new URL('..', location.href).pathname
    const { mountPayoutLink } = (await import(`${origin}${base}sdk/v1.js`)) as typeof import('./sdk.js')
    const { pathname, search } = new URL(await createPayoutLink())
    const url = `${origin}${pathname}${search}`
    log(`mountPayoutLink(element, { url: '${url}' })`)
    const mounted = mountPayoutLink(element('checkout'), {
      url,
      onReady: () => log('onReady'),
      onClaimed: () => log('onClaimed'),
      onDeclined: () => log('onDeclined'),
      onExpired: () => log('onExpired'),
      onError: ({ code }) => log(`onError ${code}`),
    })
    unmount = mounted.unmount
  } catch (error) {
    log(`failed: ${(error as Error).message}`)
  }
}

element('origins').textContent = `${location.origin} → ${origin}`
element('start').addEventListener('click', start)
