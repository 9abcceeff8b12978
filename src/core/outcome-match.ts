/** The fields of a new record that an armed outcome compares. A field that is left out matches all. */
export interface OutcomeMatch {
  readonly mandateReference?: string
  readonly debtorReference?: string
  readonly collectionReference?: string
  readonly payoutMethod?: string
  readonly counterpartyReference?: string
  /** Compared as a number: `10.5` is `10.50`. */
  readonly amount?: string
}
