/** The format of all times of the console, on the server and in the browser. To make it takes some 20 ms. */
let format: Intl.DateTimeFormat | undefined

const newFormat = () =>
  new Intl.DateTimeFormat('en-GB', {
    timeZone: 'UTC',
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  })

/** Formats an instant in milliseconds, such as `Mon, 2 Nov 2026, 09:00:00 UTC`. */
export function formatMoment(at: number): string {
  format ??= newFormat()
  return `${format.format(at)} UTC`
}

/** Formats an instant in three parts, such as `Mon, `, `2 Nov 2026, 09:00` and `:00 UTC`. */
export const partsOf = (at: string) =>
  (/^(\w+, )(.*)(:\d+ UTC)$/.exec(formatMoment(Date.parse(at))) ?? []).slice(1) as [string, string, string]
