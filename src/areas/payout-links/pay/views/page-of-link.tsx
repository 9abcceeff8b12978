import type { Region } from '../../../../core/domain/regions.js'
import type { Problem } from '../../claim-rules.js'
import type { StoredPayoutLink } from '../../schemas.js'
import { ClaimView } from './claim-view.js'
import type { DocumentProps } from './document.js'
import { renderPage } from './document.js'
import { formatOf } from './format.js'
import { ProgressView } from './progress-view.js'
import type { NoticeName } from './strings.js'
import { strings } from './strings.js'
import { titleOf } from './summary.js'

/** The values and problems of a refused form, by field. */
export interface Refused {
  readonly values: Readonly<Record<string, string>>
  readonly problems: Readonly<Record<string, Problem>>
}

/** A link as its page shows it. */
export interface LinkPage {
  readonly region: Region
  readonly link: StoredPayoutLink
  /** The name of the sender, or undefined if it is not known. */
  readonly sender: string | undefined
  /** The instant at which a claimed link is paid, YYYY-MM-DDThh:mm:ssZ. */
  readonly expectedAt: string
  /** The address of the page, relative to itself. */
  readonly here: string
  /** The token that binds a claim to its page. */
  readonly token: string
  readonly embedders: readonly string[]
  /** Whether an embedded page is opened outside of a frame. */
  readonly isOutside: boolean
  readonly refused?: Refused
}

/** Renders the page of a link that can be claimed, or that the recipient has claimed or declined. */
export function renderLinkPage(page: LinkPage): string {
  const { region, link, sender, embedders, isOutside } = page
  if (isOutside) return renderNotice({ name: 'outside' })
  const format = formatOf(region)
  const view = { link, sender, format }
  const { amount, status } = link
  const head = `${titleOf(sender)} ${format.money(amount)}`
  const frame = { status, isEmbedded: link.uiMode === 'embedded', embedders }
  switch (status) {
    case 'ACTIVE': {
      const { token, refused } = page
      const title = refused === undefined ? head : `${strings.problems} · ${head}`
      return renderPage({
        ...frame,
        title,
        isLive: true,
        children: <ClaimView {...view} token={token} {...refused} />,
      })
    }
    case 'CLAIMED':
    case 'PROCESSING':
    case 'PAID':
    case 'FAILED':
      return renderPage({
        ...frame,
        title: `${strings.progress[status]} · ${head}`,
        isLive: isMoving(status),
        children: <ProgressView {...view} status={status} expectedAt={page.expectedAt} here={page.here} />,
      })
    default: {
      const declined = link.decline?.remarks === undefined ? 'declined' : 'commented'
      return renderNotice({ ...frame, name: status === 'REJECTED' ? declined : status })
    }
  }
}

export interface NoticePage extends Omit<DocumentProps, 'title' | 'isLive' | 'children'> {
  readonly name: NoticeName
}

/** Renders a page that says why there is nothing to claim. */
export function renderNotice({ name: given, ...page }: NoticePage): string {
  // A link can have a state that this release lacks.
  const name = Object.hasOwn(strings.notices, given) ? given : 'failure'
  const { title, text } = strings.notices[name]
  const children = (
    <div class="sheet notice">
      <h1 tabIndex={-1}>{title}</h1>
      <p>{text}</p>
    </div>
  )
  return renderPage({ ...page, title, isLive: isMoving(page.status), children })
}

/** Whether a claimed link changes by itself. */
const isMoving = (status: DocumentProps['status']) => status === 'CLAIMED' || status === 'PROCESSING'
