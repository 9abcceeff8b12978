import type { Hello, PageMessage } from './messages.js'

/** An embedded payout link, and the callbacks for its events. */
export interface MountOptions {
  /** The `url` of the payout link. */
  readonly url: string
  /** The name of the frame for assistive technology; default `Payout`. */
  readonly title?: string
  /** The page is ready. */
  readonly onReady?: () => void
  /** The recipient has accepted the payout. */
  readonly onClaimed?: () => void
  /** The recipient has declined the payout. */
  readonly onDeclined?: () => void
  /** The link has expired. */
  readonly onExpired?: () => void
  /**
   * There is nothing to accept. `code` is a code of the error catalogue, such as `PAYOUT_LINK_CLOSED`, or
   * `FRAME_NOT_READY`: the page is refused in a frame of this origin, or cannot be reached.
   */
  readonly onError?: (error: { readonly code: string }) => void
}

/** A mounted payout link. */
export interface MountedPayoutLink {
  /** Removes the frame. No callback follows. */
  unmount(): void
}

/** The time that a loaded page has to answer, in milliseconds. */
const PATIENCE_MS = 5000

const CLAIMED = ['CLAIMED', 'PROCESSING', 'PAID', 'FAILED']

/**
 * Shows the page of an embedded payout link in a frame at the end of an element. The frame has the height of the page.
 * Calls back once for each state that the page reports. Takes messages only from the page, by origin and window.
 * @throws TypeError if `url` is not an absolute URL
 */
export function mountPayoutLink(element: HTMLElement, options: MountOptions): MountedPayoutLink {
  const { url, title = 'Payout', onReady, onClaimed, onDeclined, onExpired, onError } = options
  const { origin } = new URL(url)
  const frame = document.createElement('iframe')
  const seen = new Set<string>()
  let timer: ReturnType<typeof setTimeout> | undefined

  function once(event: string, callback: (() => void) | undefined) {
    if (seen.has(event)) return
    seen.add(event)
    callback?.()
  }

  function report(state: string) {
    once('ready', onReady)
    if (state === 'ACTIVE') return
    if (CLAIMED.includes(state)) once('claimed', onClaimed)
    else if (state === 'REJECTED') once('declined', onDeclined)
    else if (state === 'EXPIRED') once('expired', onExpired)
    else once(state, () => onError?.({ code: state }))
  }

  function receive({ data, source, origin: sender }: MessageEvent<PageMessage | undefined>) {
    if (sender !== origin || source !== frame.contentWindow || data?.source !== 'payments-sandbox') return
    clearTimeout(timer)
    if (data.event === 'height') frame.style.height = `${data.height}px`
    else if (data.event === 'state') report(data.state)
  }

  function greet() {
    const hello: Hello = { source: 'payments-sandbox', event: 'hello' }
    // The browser delivers it only to a page of the origin of the link.
    frame.contentWindow?.postMessage(hello, origin)
    clearTimeout(timer)
    timer = setTimeout(() => once('FRAME_NOT_READY', () => onError?.({ code: 'FRAME_NOT_READY' })), PATIENCE_MS)
  }

  window.addEventListener('message', receive)
  frame.addEventListener('load', greet)
  frame.title = title
  frame.src = url
  // The page sends its height; until then the form has room.
  frame.style.cssText = 'border: 0; width: 100%; height: 640px; display: block; color-scheme: normal'
  element.append(frame)

  return {
    unmount() {
      clearTimeout(timer)
      window.removeEventListener('message', receive)
      frame.remove()
    },
  }
}
