import { Facts } from '../../../http/pages/parts.js'
import type { StoredPayoutLink } from '../schemas.js'
import type { Format } from './format.js'
import type { Strings } from './strings.js'

/** The parts of a page that all views of a link need. */
export interface LinkView {
  readonly link: StoredPayoutLink
  /** The name of the sender; undefined: it is not known. */
  readonly sender: string | undefined
  readonly t: Strings
  readonly format: Format
}

/** Shows the sender, the amount and the message of a payout. Its details are folded on a narrow screen. */
export function Summary({ link, sender, t, format, isOpen }: LinkView & { isOpen: boolean }) {
  const { amount, currency, payoutMethod, counterpartyReference, remarks, expiresAt } = link
  return (
    <section class="summary">
      <h1 tabIndex={-1}>
        <span class="sender">{t.title(sender)}</span> <span class="amount">{format.money(amount, currency)}</span>
      </h1>
      {remarks !== undefined && <p class="message">{remarks}</p>}
      <details>
        <summary>{t.details}</summary>
        <Facts
          facts={[
            [t.method, t.methods[payoutMethod]],
            [t.arrives, isOpen ? t.arrival[payoutMethod] : undefined],
            [t.expires, isOpen ? <time dateTime={expiresAt}>{format.instant(expiresAt)}</time> : undefined],
            [t.reference, counterpartyReference],
          ]}
        />
      </details>
    </section>
  )
}
