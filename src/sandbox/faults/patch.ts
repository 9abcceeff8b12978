import fp from 'fastify-plugin'
// https://github.com/chbrown/rfc6902
import { applyPatch } from 'rfc6902'
import type { PatchOperation } from './effect.js'

/** Patches answers as the faults of their requests demand, before they are logged. Records stay as they are. */
export const answerPatches = fp((app, _options, done) => {
  app.addHook('onSend', function patchAnswer({ sandbox: { faults } }, _reply, payload, next) {
    if (faults?.effect?.kind !== 'patch') {
      next(null, payload)
      return
    }
    const { text, missing } = patched(payload, faults.effect.patch)
    if (missing !== undefined) faults.missing = missing
    next(null, text)
  })
  done()
})

/** Returns a patched answer. One that lacks a path stays as it is, and so does one that is not JSON. */
function patched(payload: unknown, patch: readonly PatchOperation[]): { text: unknown; missing?: string } {
  let path = ''
  try {
    const content: unknown = JSON.parse(String(payload))
    for (const operation of patch) {
      path = operation.path
      const [error] = applyPatch(content, [operation])
      // A text or number in the path throws.
      if (error) throw error
    }
    return { text: JSON.stringify(content) }
  } catch {
    return { text: payload, missing: path }
  }
}
