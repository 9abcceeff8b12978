import type { ComponentChildren } from 'preact'
import { ICON } from './icon.js'

interface HeadProps {
  readonly title: string
  /** Style sheets and scripts. */
  readonly children: ComponentChildren
}

/** The head of every page. */
export function Head({ title, children }: HeadProps) {
  return (
    <head>
      <meta charset="utf-8" />
      <title>{title}</title>
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="robots" content="noindex" />
      <link rel="icon" href={`data:image/svg+xml,${encodeURIComponent(ICON)}`} />
      {children}
    </head>
  )
}

/** Says that a page is one of the sandbox. */
export function Ribbon({ note }: { note: string }) {
  return (
    <p class="ribbon">
      <strong>Sandbox</strong> <span>{note}</span>
    </p>
  )
}

/** Says that a page is no part of the service. */
export const OWN_PAGE = 'This page is part of the sandbox, not of the service.'

interface PlainPageProps {
  readonly title: string
  /** The text of the style sheet. The policy of the page has its hash (`pageHeaders`). */
  readonly styles: string
  readonly children: ComponentChildren
}

/** A page of the sandbox without scripts, with its style sheet within. */
export function PlainPage({ title, styles, children }: PlainPageProps) {
  return (
    <html lang="en">
      <Head title={`${title} · Payments Sandbox`}>
        {/* Quotes in a style sheet must not be escaped. */}
        <style dangerouslySetInnerHTML={{ __html: styles }} />
      </Head>
      <body>
        <header>
          <Ribbon note={OWN_PAGE} />
        </header>
        <main>{children}</main>
      </body>
    </html>
  )
}
