import { readFileSync } from 'node:fs'
import type { FastifyReply } from 'fastify'
import { assetOf } from '../../package.js'

/** A file that a browser loads. */
export interface BrowserFile {
  /** The media type. */
  readonly type: string
  readonly content: string
}

/** Reads a text that the build has made for browsers (scripts/esbuild.js), without the link to its source map. */
export const readAsset = (name: string): string =>
  readFileSync(assetOf(name), 'utf8').replace(/^(\/\/|\/\*)# sourceMappingURL=.*$/m, '')

/** Sends a file that a browser may keep for five minutes. */
export const sendBrowserFile = (reply: FastifyReply, { type, content }: BrowserFile) =>
  reply
    .headers({ 'cache-control': 'public, max-age=300', 'x-content-type-options': 'nosniff' })
    .type(type)
    .send(content)
