import type { PayoutLinkStatus } from '../../lifecycle.js'
import type { Hello, PageMessage, Shown } from './messages.js'

/** The state of an embedded payout link. */
export interface PayoutLinkEvent {
  readonly payoutLinkId: string
  readonly status: PayoutLinkStatus
}

/** The reason why an embedded payout link cannot be claimed. */
export interface PayoutLinkError {
  readonly payoutLinkId: string
  /** A code of the error catalogue, or `FRAME_NOT_READY`: the page cannot be reached, or another frame is around it. */
  readonly code: string
  /** A sentence for developers. */
  readonly message: string
  /** The state of a link that is cancelled. */
  readonly status?: PayoutLinkStatus
}

/** The callbacks for the states of a link. Each is called once at most. */
export interface PayoutLinkCallbacks {
  /** The page is shown, whatever the state of the link is. */
  readonly onReady?: (event: PayoutLinkEvent) => void
  /** The recipient has accepted the payout, now or before. */
  readonly onClaimed?: (event: PayoutLinkEvent) => void
  /** The money has arrived. */
  readonly onPaid?: (event: PayoutLinkEvent) => void
  /** The transfer has failed. */
  readonly onFailed?: (event: PayoutLinkEvent) => void
  /** The recipient has declined the payout. */
  readonly onDeclined?: (event: PayoutLinkEvent) => void
  /** The link has expired. */
  readonly onExpired?: (event: PayoutLinkEvent) => void
}

/** An embedded payout link, and the callbacks for its events. */
export interface MountOptions extends PayoutLinkCallbacks {
  /** The `url` of the payout link. */
  readonly url: string
  /** The name of the frame for assistive technology; default `Payout`. */
  readonly title?: string
  /** @deprecated Ignored. The pages are in English. */
  readonly locale?: string
  /** @deprecated Ignored. The pages follow `prefers-color-scheme`. */
  readonly colorScheme?: string
  /** @deprecated Ignored. The pages have one look. */
  readonly theme?: object
  /** There is nothing to claim. It is called once for each code. */
  readonly onError?: (error: PayoutLinkError) => void
}

/** A mounted payout link. */
export interface MountedPayoutLink {
  /** Removes the frame. No callback follows. */
  unmount(): void
}

/** The time that a loaded page has to answer, in milliseconds. */
const PATIENCE_MS = 5000

/** The callbacks of each state, in their order. A cancelled link is an error. */
const CALLBACKS: Readonly<Record<PayoutLinkStatus, readonly (keyof PayoutLinkCallbacks)[]>> = {
  ACTIVE: ['onReady'],
  CLAIMED: ['onReady', 'onClaimed'],
  PROCESSING: ['onReady', 'onClaimed'],
  PAID: ['onReady', 'onClaimed', 'onPaid'],
  FAILED: ['onReady', 'onClaimed', 'onFailed'],
  REJECTED: ['onReady', 'onDeclined'],
  EXPIRED: ['onReady', 'onExpired'],
  CANCELLED: ['onReady'],
}

const OPTIONS: readonly string[] = [
  ...['url', 'title', 'locale', 'colorScheme', 'theme', 'onError'],
  ...new Set(Object.values(CALLBACKS).flat()),
]

/**
 * Shows the page of an embedded payout link in a frame at the end of an element. The frame has the height of the page.
 * Calls back once for each state that the page reports. Takes messages only from the page, by origin and window.
 * @throws TypeError if `url` is not an absolute URL of http or https, and for an unknown option
 */
export function mountPayoutLink(element: HTMLElement, options: MountOptions): MountedPayoutLink {
  const { url, title = 'Payout', onError } = options
  const unknown = Object.keys(options).filter(name => !OPTIONS.includes(name))
  // A mistyped callback would never be called.
  if (unknown.length > 0) throw new TypeError(`mountPayoutLink: there is no option ${unknown.join(', ')}.`)
  const address = new URL(url)
  const { origin, protocol, pathname } = address
  // A page of another scheme, such as javascript:, would run as a part of this one.
  if (!/^https?:$/.test(protocol)) throw new TypeError('mountPayoutLink: url must begin with http:// or https://.')
  const payoutLinkId = pathname.slice(pathname.lastIndexOf('/') + 1)
  // That of the address is another one in a sandboxed frame, and for a file.
  const embedder = window.origin
  address.searchParams.set('embedder', embedder)

  const frame = document.createElement('iframe')
  const seen = new Set<string>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let isMounted = true

  function once(event: string, callback: () => void) {
    if (seen.has(event) || !isMounted) return
    seen.add(event)
    callback()
  }

  function fail(code: string, message: string, status?: PayoutLinkStatus) {
    once(code, () => onError?.({ payoutLinkId, code, message, ...(status !== undefined && { status }) }))
  }

  function report({ status, code, message = '' }: Shown) {
    if (status !== undefined) {
      for (const name of CALLBACKS[status]) once(name, () => options[name]?.({ payoutLinkId, status }))
    }
    if (code !== undefined && (status === undefined || status === 'CANCELLED')) fail(code, message, status)
  }

  function receive({ data, source, origin: sender }: MessageEvent<PageMessage | undefined>) {
    if (sender !== origin || source !== frame.contentWindow || data?.source !== 'payments-sandbox') return
    clearTimeout(timer)
    if (data.event === 'height') frame.style.height = `${data.height}px`
    else if (data.event === 'state') report(data)
  }

  function greet() {
    const hello: Hello = { source: 'payments-sandbox', event: 'hello' }
    // The browser delivers it only to a page of the origin of the link.
    frame.contentWindow?.postMessage(hello, origin)
    clearTimeout(timer)
    timer = setTimeout(fail, PATIENCE_MS, 'FRAME_NOT_READY', `The page of the link does not answer: ${origin}.`)
  }

  window.addEventListener('message', receive)
  frame.addEventListener('load', greet)
  frame.title = title
  // The page sends its height; until then the form has room.
  frame.style.cssText = 'border: 0; width: 100%; height: 640px; display: block; color-scheme: normal'
  if (embedder === 'null') {
    const message = 'A page without an origin, such as a file, cannot embed a link: serve it by http or https.'
    timer = setTimeout(fail, 0, 'ORIGIN_NOT_ALLOWED', message)
  } else {
    frame.src = address.href
    element.append(frame)
  }

  return {
    unmount() {
      isMounted = false
      clearTimeout(timer)
      window.removeEventListener('message', receive)
      frame.remove()
    },
  }
}
