import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { FastifyReply } from 'fastify'

/** A file that a browser loads. */
export interface BrowserFile {
  /** The media type. */
  readonly type: string
  readonly content: string
}

/** The root of the compiled files. */
const ROOT = new URL('../../', import.meta.url)

const read = (url: URL | string) => readFileSync(fileURLToPath(url), 'utf8')
const script = (content: string): BrowserFile => ({
  type: 'text/javascript; charset=utf-8',
  // The source maps are not served.
  content: content.replace(/^\/\/# sourceMappingURL=.*$/m, ''),
})

/** The packages that modules in a browser import: the files of their ES modules, also for a CommonJS program. */
const PACKAGES = {
  ibantools: () => new URL('../jsnext/ibantools.js', import.meta.resolve('ibantools')),
  idiomorph: () => import.meta.resolve('idiomorph/dist/idiomorph.esm.js'),
} as const

/**
 * Reads compiled modules of the server for a browser, with the packages that they import.
 * @param paths paths from the root of the compiled files; they must include all modules that these import
 * @returns the files by their path
 */
export function readModules(paths: readonly string[]): Map<string, BrowserFile> {
  const files = new Map<string, BrowserFile>()
  const imported = new Set<keyof typeof PACKAGES>()
  for (const path of paths) {
    const root = '../'.repeat(path.split('/').length - 1)
    // A browser resolves no name of a package.
    const content = read(new URL(path, ROOT)).replace(/(?<=from ['"])(\w+)(?=['"])/g, name => {
      imported.add(name as keyof typeof PACKAGES)
      return `${root}${name}.js`
    })
    files.set(path, script(content))
  }
  for (const name of imported) files.set(`${name}.js`, script(read(PACKAGES[name]())))
  return files
}

/** Sends a file that a browser may keep for five minutes. */
export const sendBrowserFile = (reply: FastifyReply, { type, content }: BrowserFile) =>
  reply
    .headers({ 'cache-control': 'public, max-age=300', 'x-content-type-options': 'nosniff' })
    .type(type)
    .send(content)
