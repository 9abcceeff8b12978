import type { PayoutLinkStatus } from '../../lifecycle.js'

/** The messages between the SDK and the page of a payout link in its frame. All of it is assumed (decisions §8). */

/** The mark of our messages. Those of other scripts are ignored. */
export type Source = 'payments-sandbox'

/** A message of the SDK: the page may answer to its origin. */
export interface Hello {
  readonly source: Source
  readonly event: 'hello'
}

/** The content of a page: the state of its link, or why it does not show one. A link that has ended has both. */
export interface Shown {
  readonly status?: PayoutLinkStatus | undefined
  /** A code of the error catalogue. */
  readonly code?: string | undefined
  readonly message?: string | undefined
}

/** A message of the page. */
export type PageMessage =
  | ({ readonly source: Source; readonly event: 'state' } & Shown)
  | { readonly source: Source; readonly event: 'height'; readonly height: number }
