import { Facts } from './document.js'
import type { LinkView } from './summary.js'
import { Summary } from './summary.js'

type ProgressStatus = 'CLAIMED' | 'PROCESSING' | 'PAID' | 'FAILED'

export interface ProgressViewProps extends LinkView {
  readonly status: ProgressStatus
  /** The instant at which the payout is expected, YYYY-MM-DDThh:mm:ssZ. */
  readonly expectedAt: string
  /** The address of the page. */
  readonly here: string
}

const PATHS: Readonly<Record<ProgressStatus, readonly ProgressStatus[]>> = {
  CLAIMED: ['CLAIMED', 'PROCESSING', 'PAID'],
  PROCESSING: ['CLAIMED', 'PROCESSING', 'PAID'],
  PAID: ['CLAIMED', 'PROCESSING', 'PAID'],
  FAILED: ['CLAIMED', 'PROCESSING', 'FAILED'],
}

/** Shows the way of a claimed payout to the account. */
export function ProgressView({ status, expectedAt, here, ...view }: ProgressViewProps) {
  const { link, t, format } = view
  const isOver = status === 'PAID' || status === 'FAILED'
  const path = PATHS[status]
  const position = path.indexOf(status)
  const moment = (at: string) => <time dateTime={at}>{format.instant(at)}</time>
  return (
    <div class="sheet">
      <Summary {...view} isOpen={false} />
      <div class="action">
        <h2 class={`result ${status.toLowerCase()}`} tabIndex={-1}>
          {t.progress[status].title}
        </h2>
        <p>{t.progress[status].text}</p>
        <ol class="steps" aria-label={t.stepsTitle}>
          {path.map((step, at) => (
            <li key={step} class={classOf(step, at - position)} aria-current={at === position ? 'step' : undefined}>
              {t.steps[step]}
              {at <= position && step !== 'FAILED' && <span class="hidden"> ({t.done})</span>}
            </li>
          ))}
        </ol>
        <Facts
          facts={[
            [t.payee, link.claim?.accountHolderName],
            [t.account, link.claim && lastDigits(link.claim.accountIdentifier)],
            [t.expected, isOver ? undefined : moment(expectedAt)],
            [t.paid, status === 'PAID' ? moment(link.updatedAt) : undefined],
          ]}
        />
        {!isOver && (
          <noscript>
            <p>
              <a href={here}>{t.refresh}</a>
            </p>
          </noscript>
        )}
      </div>
    </div>
  )
}

/** Returns the class of a step, by its distance from the present one. */
function classOf(step: ProgressStatus, distance: number): string {
  if (step === 'FAILED') return 'failed'
  if (distance === 1) return 'next'
  if (distance === 0) return 'done last'
  return distance < 0 ? 'done' : 'open'
}

const lastDigits = (accountIdentifier: string) => `•••• ${accountIdentifier.slice(-4).replaceAll('*', '')}`
