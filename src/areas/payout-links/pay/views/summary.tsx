import type { StoredPayoutLink } from '../../schemas.js'
import { Facts } from './facts.js'
import type { Format } from './format.js'
import { strings } from './strings.js'

/** The parts of a page that all views of a link need. */
export interface LinkView {
  readonly link: StoredPayoutLink
  /** The name of the sender, or undefined if it is not known. */
  readonly sender: string | undefined
  readonly format: Format
}

/** Returns the title of a page. */
export const titleOf = (sender: string | undefined) =>
  sender === undefined ? 'A payout for you' : `${sender} pays you`

/** Shows the sender, the amount, the message and the details of a payout. */
export function Summary({ link, sender, format, isOpen }: LinkView & { isOpen: boolean }) {
  const { amount, payoutMethod, counterpartyReference, remarks, expiresAt } = link
  return (
    <section class="summary">
      <h1 tabIndex={-1}>
        {titleOf(sender)} <span class="amount">{format.money(amount)}</span>
      </h1>
      {remarks !== undefined && <p class="message">{remarks}</p>}
      <Facts
        facts={[
          [strings.method, strings.methods[payoutMethod]],
          [strings.arrives, isOpen ? strings.arrival[payoutMethod] : undefined],
          [strings.expires, isOpen ? <time dateTime={expiresAt}>{format.instant(expiresAt)}</time> : undefined],
          [strings.reference, counterpartyReference],
        ]}
      />
    </section>
  )
}
