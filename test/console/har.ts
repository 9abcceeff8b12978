import { ROOT } from '../../src/http/pages/browser-files.js'
import type { Part } from '../multipart.js'
import { field, MULTIPART, multipart } from '../multipart.js'
import { CONSOLE } from './pages.js'

/** The module that reads a HAR file. */
export const HAR_TO_STATE = new URL('compare/har-to-state.js', ROOT)

/** The form "Load a state" with a file, for a client. */
export const loadForm = (content: Part['content'], client = 'acme') => ({
  url: `${CONSOLE}/client/load?client=${client}`,
  headers: { accept: 'application/json', ...MULTIPART },
  body: multipart(field('form', 'load'), field('call', 'PUT /_sandbox/state'), {
    fileName: 'state.json',
    type: 'application/json',
    content,
  }),
})
