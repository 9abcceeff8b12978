import type { ComponentChildren } from 'preact'
import { collectionDateBounds, wallClock } from '../../areas/direct-debit/timing.js'
import { addOpenDays, T2 } from '../../core/time/business-days.js'
import { formatInstant } from '../../core/time/time.js'
import type { Tenant } from '../../tenants/tenant.js'
import type { Call } from '../calls.js'
import { callPath, kinds } from '../kinds.js'
import type { Page } from '../page.js'
import { href } from '../page.js'
import { CallForm, control } from './forms.js'
import { Card, Status } from './parts.js'

const MANDATE = 'STORY-MANDATE'
const SETTLES = 'STORY-COLLECTION-1'
const BOUNCES = 'STORY-COLLECTION-2'
const RECIPIENT = 'STORY-RECIPIENT'
const IBAN = 'DE89 3704 0044 0532 0130 00'

/** The records of the story that exist. Its place follows from them, so that it can be left and taken up. */
function recordsOf({ mandates, collections, payoutLinks }: Tenant) {
  const [mandate] = mandates.search({ search: MANDATE, limit: 1 }).data
  if (mandate === undefined) return {}
  const { data } = collections.list({ mandateReference: MANDATE, limit: 10 })
  const link = payoutLinks.entries().findLast(({ record }) => record.counterpartyReference === RECIPIENT)
  return {
    mandate: mandate.record,
    settles: data.find(({ collectionReference }) => collectionReference === SETTLES),
    bounces: data.find(({ collectionReference }) => collectionReference === BOUNCES),
    link: link && payoutLinks.explain(link.record.payoutLinkId).record,
  }
}

interface Step {
  readonly title: string
  /** Says what the step does, or what has happened. */
  readonly text: ComponentChildren
  /** The record, by the name of its kind and its reference. */
  readonly record?: { readonly kind: string; readonly reference: string; readonly status: string } | undefined
  readonly isDone: boolean
  readonly label: string
  /** Undefined: the step is a link to another page. */
  readonly call?: Call
  readonly link?: string | undefined
}

function stepsOf(page: Page): readonly Step[] {
  const { tenant } = page
  const { mandate, settles, bounces, link } = recordsOf(tenant)
  const { earliest } = collectionDateBounds(tenant.clock.now())
  const collect = (collectionReference: string, amount: string, more: object = {}) =>
    api('collections', {
      collectionReference,
      mandateReference: MANDATE,
      amount,
      currency: 'EUR',
      collectionDate: earliest,
      ...more,
    })
  const advance = (to: number) =>
    control(page, 'POST', '/clock/advance', { to: formatInstant(Math.max(to, tenant.clock.now())) })
  const of = (kind: string, reference: string, record?: { readonly status: string }) =>
    record && { kind, reference, status: record.status }
  return [
    {
      title: 'A mandate',
      text: mandate
        ? 'Jane Doe has signed: Acme may collect from her account.'
        : 'Jane Doe lets Acme collect from her account.',
      record: of('mandates', MANDATE, mandate),
      isDone: mandate !== undefined,
      label: 'Create a mandate',
      call: api('mandates', {
        ...kinds.find(({ name }) => name === 'mandates')?.create?.example(tenant, '0001'),
        mandateReference: MANDATE,
      }),
    },
    {
      title: 'A collection',
      text: settles
        ? 'Acme has asked for 49.90 EUR. The bank gets the order two bank days before the day.'
        : 'Acme collects 49.90 EUR on the next possible day.',
      record: of('collections', SETTLES, settles),
      isDone: settles !== undefined,
      label: 'Collect 49.90 EUR',
      call: collect(SETTLES, '49.90'),
    },
    {
      title: 'Time passes, and it settles',
      text:
        settles?.status === 'SETTLED'
          ? 'The clock moved to the day, everything due happened on the way, and the money is there.'
          : 'No waiting is needed: move the clock to the day.',
      record: of('collections', SETTLES, settles),
      isDone: settles !== undefined && !['PENDING', 'SUBMITTED', 'PROCESSING'].includes(settles.status),
      label: 'Move the clock to the day',
      call: advance(settles === undefined ? 0 : wallClock(settles.collectionDate, '14:00')),
    },
    {
      title: 'One that bounces, and why',
      text:
        bounces === undefined
          ? 'The next account has no cover. The reference SIM-RETURNED-AM04 makes it so.'
          : bounces.status === 'RETURNED'
            ? 'It settled, and two bank days later the bank of the debtor took the money back: AM04, insufficient funds.'
            : 'It will settle, and then bounce. Move the clock past both.',
      record: of('collections', BOUNCES, bounces),
      isDone: bounces !== undefined && ['RETURNED', 'REJECTED', 'FAILED', 'CANCELLED'].includes(bounces.status),
      ...(bounces === undefined
        ? {
            label: 'Collect from an account without cover',
            call: collect(BOUNCES, '20.00', { debtorReference: 'SIM-RETURNED-AM04' }),
          }
        : {
            label: 'Move the clock until it bounces',
            call: advance(wallClock(addOpenDays(T2, bounces.collectionDate, 2), '14:00')),
          }),
    },
    {
      title: 'A payout link',
      text: link
        ? 'The link is ready. Its recipient needs nothing but the address.'
        : 'Acme pays 49.90 EUR back, and does not know the account: it sends a link.',
      record: of('payoutLinks', link?.payoutLinkId ?? '', link),
      isDone: link !== undefined,
      label: 'Create a payout link',
      call: api('payoutLinks', {
        amount: '49.90',
        currency: 'EUR',
        payoutMethod: 'SEPA-INSTANT',
        counterpartyReference: RECIPIENT,
        remarks: 'We are sorry: here is your money',
      }),
    },
    {
      title: 'The claim, on the page of the recipient',
      text:
        link === undefined || link.status === 'ACTIVE'
          ? `Be the recipient: open the page, and give a name and an IBAN, such as ${IBAN}.`
          : 'The recipient has acted, and this page knows. With an instant payment, the money arrives within seconds of the clock.',
      record: of('payoutLinks', link?.payoutLinkId ?? '', link),
      isDone: link !== undefined && link.status !== 'ACTIVE',
      label: 'Open the page',
      link: link?.url,
    },
  ]
}

/** A call of the API in region EU that creates a record. */
const api = (kind: string, body: object): Call => {
  const { name } = kinds.find(({ name }) => name === kind) as (typeof kinds)[number]
  return { method: 'POST', target: `/api/v1/${callPath({ name } as (typeof kinds)[number])}`, region: 'EU', body }
}

/** The guided story, offered to clients with the demo records and to those that have begun it. */
export function Story({ page }: { page: Page }) {
  const { tenant } = page
  const steps = stepsOf(page)
  const hasBegun = steps[0]?.isDone === true
  if (!hasBegun && tenant.fixture !== 'demo') return null
  const present = steps.findIndex(({ isDone }) => !isDone)
  return (
    <Card
      id="story"
      title="The story in six steps"
      aside={hasBegun ? <a href={href(page, '/client/reset')}>Start over</a> : <span>Five minutes, no terminal</span>}
    >
      <ol class="story">
        {steps.map((step, at) => (
          <li
            key={step.title}
            class={step.isDone ? 'done' : at === present ? 'present' : 'later'}
            aria-current={at === present ? 'step' : undefined}
          >
            <h3>{step.title}</h3>
            {(step.isDone || at === present) && <StoryStep page={page} step={step} number={at + 1} />}
          </li>
        ))}
      </ol>
      {present < 0 && <p>That is the whole story. Every step was a call that your app can make, too.</p>}
    </Card>
  )
}

function StoryStep({ page, step, number }: { page: Page; step: Step; number: number }) {
  const { text, record, isDone, label, call, link } = step
  const path = kinds.find(({ name }) => name === record?.kind)?.path
  return (
    <>
      <p>
        {text}{' '}
        {record && (
          <>
            <a href={href(page, `${path}/${encodeURIComponent(record.reference)}`)}>{record.reference}</a>{' '}
            <Status of={record.status} />
          </>
        )}
      </p>
      {!isDone && call && <CallForm page={page} id={`story-${number}`} call={call} label={label} hasCurl />}
      {!isDone && link && (
        <a class="button" href={link} target="_blank" rel="noreferrer">
          {label}
        </a>
      )}
    </>
  )
}
