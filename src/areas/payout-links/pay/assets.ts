import type { BrowserFile } from '../../../http/pages/browser-files.js'
import { readScript } from '../../../http/pages/browser-files.js'
import { styles } from './views/styles.js'

let loaded: { readonly assets: ReadonlyMap<string, BrowserFile>; readonly sdk: BrowserFile } | undefined

/** Returns the files below `/pay/assets/` by name, and the SDK. They are read once for a process. */
export function loadAssets() {
  loaded ??= {
    assets: new Map([
      ['page.js', readScript('page.js')],
      ['page.css', { type: 'text/css; charset=utf-8', content: styles }],
    ]),
    sdk: readScript('sdk.js'),
  }
  return loaded
}
