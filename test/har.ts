import { createRequire } from 'node:module'
import type { ValidateFunction } from 'ajv'
import { Ajv } from 'ajv'

const require = createRequire(import.meta.url)

/** The validator of HAR 1.2 documents. https://github.com/ahmadnassri/node-har-schema */
export function validatorOfHar(): ValidateFunction {
  const ajv = new Ajv({ strict: false, validateFormats: false })
  ajv.addMetaSchema(require('ajv/dist/refs/json-schema-draft-06.json'))
  for (const [name, schema] of Object.entries<object>(require('har-schema'))) if (name !== 'har') ajv.addSchema(schema)
  return ajv.compile(require('har-schema').har)
}
