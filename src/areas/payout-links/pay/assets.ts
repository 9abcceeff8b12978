import type { BrowserFile } from '../../../http/pages/browser-files.js'
import { readModules } from '../../../http/pages/browser-files.js'
import { styles } from './views/styles.js'

const BROWSER = 'areas/payout-links/pay/browser'

/**
 * The modules that run in a browser: the script of the pages, with all that it imports. They are the
 * files that the server itself runs, so that both check a claim by the same rules.
 */
const MODULES = [
  `${BROWSER}/page.js`,
  'areas/payout-links/claim-rules.js',
  'core/domain/identifiers.js',
  'core/origins.js',
]

let loaded: { readonly assets: ReadonlyMap<string, BrowserFile>; readonly sdk: BrowserFile } | undefined

/** Returns the files below `/pay/assets/` by path, and the SDK. They are read once for a process. */
export function loadAssets() {
  loaded ??= {
    assets: readModules(MODULES).set('page.css', { type: 'text/css; charset=utf-8', content: styles }),
    sdk: readModules([`${BROWSER}/sdk.js`]).get(`${BROWSER}/sdk.js`) as BrowserFile,
  }
  return loaded
}
