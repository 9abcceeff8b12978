import type { NoticeName, Strings } from './strings.js'

export interface NoticeViewProps {
  readonly name: NoticeName
  readonly t: Strings
  /** Asks for the client that the link belongs to. */
  readonly asksForClient?: boolean
}

/** Says why there is nothing to claim. */
export function NoticeView({ name, t, asksForClient = false }: NoticeViewProps) {
  const { title, text } = t.notices[name]
  return (
    <div class="sheet notice">
      <h1 tabIndex={-1}>{title}</h1>
      <p>{text}</p>
      {asksForClient && (
        <form method="get">
          <div class="field">
            <label for="client">{t.client}</label>
            <input type="text" id="client" name="client" required autocomplete="off" spellcheck={false} />
          </div>
          <button type="submit">{t.open}</button>
        </form>
      )}
    </div>
  )
}
