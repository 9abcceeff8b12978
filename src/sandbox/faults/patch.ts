// https://github.com/chbrown/rfc6902
import { applyPatch } from 'rfc6902'
import type { PatchOperation } from './effect.js'
import type { AppliedFaults } from './state.js'

/** Returns an answer as the fault of its request patches it. Its record stays as it is. */
export function patchAnswer(faults: AppliedFaults, patch: readonly PatchOperation[], payload: unknown): unknown {
  const { text, missing } = patched(payload, patch)
  if (missing !== undefined) faults.missing = missing
  return text
}

/** Returns a patched answer. An answer that lacks a path, or is not JSON, stays as it is. */
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
