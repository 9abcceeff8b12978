import { renderToString } from 'preact-render-to-string'

/** The code that a partner's page needs, as the demo shows it. */
const EXAMPLE = `import { mountPayoutLink } from 'https://…/sdk/v1.js'

mountPayoutLink(document.querySelector('#checkout'), {
  url, // of the payout link, from your server
  onReady() {},
  onClaimed() {},
  onDeclined() {},
  onExpired() {},
  onError({ code }) {},
})`

/** The page of a partner that embeds a payout link from a second origin (GET /_sandbox/embed-demo). */
function EmbedDemo() {
  return (
    <html lang="en" class="demo">
      <head>
        <meta charset="utf-8" />
        <title>Embedded checkout · Payments Sandbox</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="../pay/assets/page.css" />
        <script type="module" src="../pay/assets/areas/payout-links/browser/embed-demo.js" />
      </head>
      <body>
        <main>
          <h1>Embedded checkout</h1>
          <p>
            This page stands for the website of a partner. It creates an embedded payout link of{' '}
            <code>sandbox-client</code> and shows it with the SDK. The frame has another origin: <code id="origins" />
          </p>
          <button type="button" id="start">
            Create and embed a payout link
          </button>
          <section id="checkout" aria-label="Checkout" />
          <h2>Callbacks</h2>
          <div role="log">
            <ol id="log" />
          </div>
          <h2>Code</h2>
          <pre>{EXAMPLE}</pre>
        </main>
      </body>
    </html>
  )
}

export const renderEmbedDemo = (): string => `<!doctype html>${renderToString(<EmbedDemo />)}`
