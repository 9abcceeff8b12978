import type { Region } from '../../../core/rules/regions.js'
import type { Problem } from '../claim-rules.js'
import type { StoredPayoutLink } from '../schemas.js'
import { ClaimView } from './claim-view.js'
import { renderPage } from './document.js'
import { formatOf } from './format.js'
import { NoticeView } from './notice-view.js'
import { ProgressView } from './progress-view.js'
import type { Language, NoticeName } from './strings.js'
import { strings } from './strings.js'

/** The values and problems of a refused form, by field. */
export interface Refused {
  readonly values: Readonly<Record<string, string>>
  readonly problems: Readonly<Record<string, Problem>>
}

/** A link as its page shows it. */
export interface LinkPage {
  readonly language: Language
  readonly region: Region
  readonly link: StoredPayoutLink
  /** The name of the payer. */
  readonly payer: string
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
  const { language, region, link, payer, embedders, isOutside } = page
  if (isOutside) return renderNotice({ language, name: 'outside', state: 'OUTSIDE_OF_FRAME' })
  const t = strings[language]
  const format = formatOf(language, region)
  const view = { link, payer, t, format }
  const { amount, currency, status } = link
  const isEmbedded = link.uiMode === 'embedded'
  const head = `${t.claimTitle(payer)} ${format.money(amount, currency)}`
  const frame = {
    language,
    state: status,
    isEmbedded,
    embedders,
    ...(isEmbedded && { outside: <NoticeView name="outside" t={t} /> }),
  }
  switch (status) {
    case 'ACTIVE': {
      const { token, refused } = page
      const title = refused === undefined ? head : `${t.problems} · ${head}`
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
        title: `${t.progress[status].title} · ${head}`,
        isLive: status === 'CLAIMED' || status === 'PROCESSING',
        children: <ProgressView {...view} status={status} expectedAt={page.expectedAt} here={page.here} />,
      })
    default:
      return renderNotice({ ...frame, name: status === 'REJECTED' ? 'declined' : status })
  }
}

export interface NoticePage {
  readonly language: Language
  readonly name: NoticeName
  /** The state for the script in the browser: that of the link, or the code of the refusal. */
  readonly state: string
  readonly isEmbedded?: boolean
  readonly embedders?: readonly string[]
}

/** Renders a page that says why there is nothing to claim. */
export function renderNotice({ name, ...page }: NoticePage): string {
  const t = strings[page.language]
  const children = <NoticeView name={name} t={t} />
  return renderPage({ ...page, title: t.notices[name].title, children })
}
