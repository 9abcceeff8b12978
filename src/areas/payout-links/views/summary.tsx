import type { StoredPayoutLink } from '../schemas.js'
import { Facts } from './document.js'
import type { Format } from './format.js'
import type { Strings } from './strings.js'

/** The parts of a page that all views of a link need. */
export interface LinkView {
  readonly link: StoredPayoutLink
  /** The name of the payer. */
  readonly payer: string
  readonly t: Strings
  readonly format: Format
}

/** Shows the payer, the amount, the method and the time limit of a payout. */
export function Summary({ link, payer, t, format, isOpen }: LinkView & { isOpen: boolean }) {
  const { amount, currency, payoutMethod, counterpartyReference, remarks, expiresAt } = link
  return (
    <section class="summary">
      <h1 tabIndex={-1}>
        <span class="payer">{t.claimTitle(payer)}</span> <span class="amount">{format.money(amount, currency)}</span>
      </h1>
      <Facts
        facts={[
          [t.message, remarks],
          [t.method, t.methods[payoutMethod]],
          [t.arrives, isOpen ? t.arrival[payoutMethod] : undefined],
          [t.expires, isOpen ? <time dateTime={expiresAt}>{format.instant(expiresAt)}</time> : undefined],
          [t.reference, counterpartyReference],
        ]}
      />
    </section>
  )
}
