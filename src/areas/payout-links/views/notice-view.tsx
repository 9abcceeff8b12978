import type { NoticeName, Strings } from './strings.js'

export interface NoticeViewProps {
  readonly name: NoticeName
  readonly t: Strings
}

/** Says why there is nothing to claim. */
export function NoticeView({ name, t }: NoticeViewProps) {
  const { title, text } = t.notices[name]
  return (
    <div class="sheet notice">
      <h1 tabIndex={-1}>{title}</h1>
      <p>{text}</p>
    </div>
  )
}
