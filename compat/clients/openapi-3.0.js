/** Writes the document as OpenAPI 3.0 to build/, for generators that do not read 3.1. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { Converter } from '@apiture/openapi-down-convert'

const document = JSON.parse(readFileSync(new URL('../../openapi/payments-service.json', import.meta.url), 'utf8'))
const converted = new Converter(document).convert()

// The Python generator of 4.3 rejects a pattern beside the format of a date. The format says the same.
const text = JSON.stringify(converted, (_key, value) => {
  const isDate = value?.type === 'string' && ['date', 'date-time'].includes(value.format)
  return isDate ? { ...value, pattern: undefined } : value
})

mkdirSync(new URL('build', import.meta.url), { recursive: true })
writeFileSync(new URL('build/openapi-3.0.json', import.meta.url), text)
