/** The messages between the SDK and the page of a payout link in its frame. All of it is assumed (decisions §8). */

/** The mark of our messages. Those of other scripts are ignored. */
export type Source = 'payments-sandbox'

/** A message of the SDK: the page may answer to its origin. */
export interface Hello {
  readonly source: Source
  readonly event: 'hello'
}

/** A message of the page. */
export type PageMessage =
  | { readonly source: Source; readonly event: 'state'; readonly state: string }
  | { readonly source: Source; readonly event: 'height'; readonly height: number }
