import { createHash } from 'node:crypto'

/**
 * Returns the headers of a page that has its style sheet within: nothing from elsewhere, no script, no other style.
 * @param styles the text of the style sheet
 */
export const pageHeaders = (styles: string) => ({
  'content-security-policy':
    `default-src 'none'; style-src 'sha256-${createHash('sha256').update(styles).digest('base64')}'; img-src data:; ` +
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
})
