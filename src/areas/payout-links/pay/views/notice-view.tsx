import type { NoticeName } from './strings.js'
import { strings } from './strings.js'

/** Says why there is nothing to claim. */
export function NoticeView({ name }: { readonly name: NoticeName }) {
  const { title, text } = strings.notices[name]
  return (
    <div class="sheet notice">
      <h1 tabIndex={-1}>{title}</h1>
      <p>{text}</p>
    </div>
  )
}
