import { Facts } from './facts.js'
import type { ProgressStatus } from './strings.js'
import { progressTexts, strings } from './strings.js'
import type { LinkView } from './summary.js'
import { Summary } from './summary.js'

export interface ProgressViewProps extends LinkView {
  readonly status: ProgressStatus
  /** The instant at which the payout is expected, YYYY-MM-DDThh:mm:ssZ. */
  readonly expectedAt: string
  /** The address of the page. */
  readonly here: string
}

/** Shows the way of a claimed payout to the account. */
export function ProgressView({ status, expectedAt, here, ...view }: ProgressViewProps) {
  const { link, sender, format } = view
  const { amount, claim, claimedAt, updatedAt } = link
  const isOver = status === 'PAID' || status === 'FAILED'
  const path: readonly ProgressStatus[] = ['CLAIMED', 'PROCESSING', status === 'FAILED' ? 'FAILED' : 'PAID']
  const position = path.indexOf(status)
  const account = claim && lastDigits(claim.accountIdentifier)
  const text = progressTexts[status](
    format.money(amount),
    account === undefined ? '' : ` ${account.replace(' ', '\u00a0')}`,
    sender ?? 'the sender',
  )
  /** The time of a step, where it is known. */
  const times: Partial<Record<ProgressStatus, string>> = { CLAIMED: claimedAt ?? updatedAt, [status]: updatedAt }
  return (
    <div class="sheet">
      <Summary {...view} isOpen={false} />
      <div class="action">
        <h2 class={`result ${status.toLowerCase()}`} tabIndex={-1}>
          {strings.progress[status]}
        </h2>
        <p>{text}</p>
        <ol class="steps" aria-label={strings.stepsTitle}>
          {path.map((step, at) => (
            <li
              key={step}
              class={at <= position ? classOf(step) : undefined}
              aria-current={at === position ? 'step' : undefined}
            >
              {strings.steps[step]}
              {at <= position && step !== 'FAILED' && <span class="visually-hidden"> ({strings.done})</span>}
              <StepTime at={at <= position ? times[step] : undefined} format={format.instant} />
              {step === 'PAID' && !isOver && (
                <StepTime at={expectedAt} format={at => `Expected ${format.instant(at)}`} />
              )}
            </li>
          ))}
        </ol>
        <Facts
          facts={[
            [strings.payee, claim?.accountHolderName],
            [strings.account, account],
          ]}
        />
        {!isOver && (
          <noscript>
            <p>
              <a href={here}>{strings.refresh}</a>
            </p>
          </noscript>
        )}
      </div>
    </div>
  )
}

function StepTime({ at, format }: { at: string | undefined; format: (at: string) => string }) {
  if (at === undefined) return null
  return (
    <>
      {' '}
      <time dateTime={at}>{format(at)}</time>
    </>
  )
}

const classOf = (step: ProgressStatus) => (step === 'FAILED' ? 'failed' : 'done')

const lastDigits = (accountIdentifier: string) => `•••• ${accountIdentifier.slice(-4).replaceAll('*', '')}`
