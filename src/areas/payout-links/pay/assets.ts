import type { BrowserFile } from '../../../http/pages/browser-files.js'
import { readAsset } from '../../../http/pages/browser-files.js'

const SCRIPT = 'text/javascript; charset=utf-8'

let loaded: { readonly assets: ReadonlyMap<string, BrowserFile>; readonly sdk: BrowserFile } | undefined

/** Returns the files below `/pay/assets/` by name, and the SDK. They are read once for a process. */
export function loadAssets() {
  loaded ??= {
    assets: new Map([
      ['page.js', { type: SCRIPT, content: readAsset('page.js') }],
      ['page.css', { type: 'text/css; charset=utf-8', content: readAsset('page.css') }],
    ]),
    sdk: { type: SCRIPT, content: readAsset('sdk.js') },
  }
  return loaded
}
