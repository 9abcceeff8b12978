import { renderToString } from 'preact-render-to-string'
import { Head } from '../../../http/pages/document.js'
import type { Option } from '../../../http/pages/parts.js'
import { Choice } from '../../../http/pages/parts.js'
import { COLOR_SCHEMES, FONTS } from '../theme.js'
import { LANGUAGES, languageNames } from './strings.js'

/** The code that a partner's page needs, as the demo shows it. */
const EXAMPLE = `import { mountPayoutLink } from 'https://…/sdk/v1.js'

const { unmount } = mountPayoutLink(document.querySelector('#checkout'), {
  url, // of the payout link, from your server
  locale: 'de',
  colorScheme: 'light',
  theme: { accent: '#635bff', radius: 4, font: 'humanist' },
  onReady({ payoutLinkId, status }) {},
  onClaimed({ payoutLinkId, status }) {},
  onPaid({ payoutLinkId, status }) {},
  onFailed({ payoutLinkId, status }) {},
  onDeclined({ payoutLinkId, status }) {},
  onExpired({ payoutLinkId, status }) {},
  onError({ payoutLinkId, code, message }) {},
})`

/** The id and label of each list, then its values. */
const CHOICES: readonly [id: string, label: string, ...options: Option[]][] = [
  ['locale', 'Language', ...LANGUAGES.map((one): Option => [one, languageNames[one]])],
  ['colorScheme', 'Colours', ...COLOR_SCHEMES],
  ['font', 'Font', ['', 'default'], ...FONTS],
]

/** The page of a partner that embeds a payout link (GET /_sandbox/embed-demo). */
function EmbedDemo() {
  return (
    <html lang="en" class="demo">
      <Head title="Embedded checkout · Payments Sandbox">
        <link rel="stylesheet" href="../pay/assets/page.css" />
        <script type="module" src="../pay/assets/areas/payout-links/browser/embed-demo.js" />
      </Head>
      <body>
        <main>
          <h1>Embedded checkout</h1>
          <p>
            This page stands for the website of a partner. It creates an embedded payout link of{' '}
            <code>sandbox-client</code> and shows it with the SDK. The page and its frame: <code id="origins" />
          </p>
          <form id="options">
            <div class="options">
              {CHOICES.map(([id, label, ...options]) => (
                <div key={id}>
                  <Choice id={id} label={label} options={options} value={undefined} />
                </div>
              ))}
              <div>
                <label for="accent">Accent</label>
                <input type="color" id="accent" name="accent" value="#0d7f76" />
              </div>
              <div>
                <label for="radius">Corners (px)</label>
                <input type="number" id="radius" name="radius" value="8" min="0" max="24" />
              </div>
            </div>
            <button type="submit">Create and embed a payout link</button>
          </form>
          <section id="checkout" aria-label="Checkout" />
          <h2>Calls</h2>
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
