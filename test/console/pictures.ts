import type { FastifyInstance } from 'fastify'
import { runApp } from '../browser/coverage.js'
import { call, connect } from '../helper.js'
import { CONSOLE, open, submit, toText } from './pages.js'

/** The pages of the console that the documents show as pictures: `npm run screenshots` takes them. */

interface Picture {
  /** The name of its file in docs/screenshots. */
  readonly name: string
  /** Below the console. */
  readonly path: string
  readonly client: string
  /** The steps of the story that are done. */
  readonly steps: number
}

const DEMO = 'sandbox-client'
const APP = 'web-shop'

const PICTURES: readonly Picture[] = [
  { name: 'console', path: '', client: DEMO, steps: 3 },
  { name: 'console-record', path: '/collections/STORY-COLLECTION-2', client: DEMO, steps: 5 },
  { name: 'console-mobile', path: '/mandates/STORY-MANDATE', client: DEMO, steps: 5 },
  { name: 'console-requests', path: '/requests', client: APP, steps: 5 },
  { name: 'coverage', path: '/coverage', client: APP, steps: 5 },
]

/** The texts of the pictures, a line for each, so that a page that changes is seen. */
export const TEXTS = 'docs/screenshots/texts.txt'

/**
 * Brings a sandbox to the state of each picture in turn. Returns their texts.
 * @param take called with the name of each and the address of its page
 */
export async function takePictures(app: FastifyInstance, take?: (name: string, address: string) => Promise<void>) {
  await call(app, 'POST', '/_sandbox/reset')
  await runApp(await connect(app, APP))
  let [done, texts] = [0, '']
  for (const { name, path, client, steps } of PICTURES) {
    for (; done < steps; done++) await submit(app, '', `story-${done + 1}`, {}, { client })
    texts += `${name}: ${textsOf((await open(app, path, { client })).payload).join(' | ')}\n`
    await take?.(name, `${CONSOLE}${path}?client=${client}`)
  }
  return texts
}

/** Returns the headings of a page and the links of its navigation. */
const textsOf = (html: string) =>
  [...html.matchAll(/<(h[1-3])[^>]*>(.*?)<\/\1>|<nav aria-label="Console">(.*?)<\/nav>/gs)].flatMap(
    ([, , heading, links = '']) =>
      [heading ?? '', ...[...links.matchAll(/<a[^>]*>(.*?)<\/a>/g)].map(([, text]) => text as string)]
        .filter(text => text !== '')
        .map(text => toText(text.replaceAll(/<[^>]*>/g, ''))),
  )
