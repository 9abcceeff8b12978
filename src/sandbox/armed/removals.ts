import { Type } from '@sinclair/typebox'
import type { ErrorCode } from '../../core/errors.js'
import { assumed, like, Text } from '../../core/schemas.js'
import type { Call } from '../route.js'
import { call } from '../route.js'
import { Cleared } from '../schemas.js'

/** Returns the calls that remove all items of a list, or one. */
export function removals(name: 'fault' | 'outcome', noun: string, error: ErrorCode): [clear: Call, remove: Call] {
  const list = `${name}s` as const
  return [
    call({
      summary: `Remove all ${noun}s`,
      // The client that the example of POST /credentials/verify registers: the next call removes a client of the demo.
      example: { client: 'app-{{client}}' },
      response: Cleared,
      handle: ({ tenant }) => {
        const armed = tenant()[list]
        const removed = armed.list().length
        armed.clear()
        return { removed }
      },
    }),
    call({
      errors: [error],
      summary: `Remove one ${noun}`,
      params: Type.Object({
        id: assumed(like(Text(1, 64), `${name}-1`), `The id of the ${noun}, such as \`${name}-1\`.`),
      }),
      response: Cleared,
      handle: ({ tenant, params }) => {
        tenant()[list].remove(params.id)
        return { removed: 1 }
      },
    }),
  ]
}
