/**
 * Ajv and fast-json-stringify, which are slow to load: nothing imports this file but `validation.ts`, late.
 */
import type { ErrorObject, ValidateFunction } from 'ajv'
import { Ajv } from 'ajv'
import fastJson from 'fast-json-stringify'
import { parseDuration } from '../core/duration.js'
import { isBic, isCountryCode, isCreditorIdentifier, isIban, isSepaIban } from '../core/identifiers.js'
import { isOrigin } from '../core/origins.js'
import { isCalendarDate, parseInstant } from '../core/time.js'

export type { ErrorObject, ValidateFunction }

const ajv = new Ajv({
  strict: true,
  allowUnionTypes: true,
  strictRequired: false,
  strictTypes: false,
  // Errors carry the schema and the value, from which messages are made.
  verbose: true,
  keywords: ['x-fidelity', 'x-expected', 'x-error-code'],
  formats: {
    'calendar-date': isCalendarDate,
    instant: text => parseInstant(text) !== undefined,
    duration: text => parseDuration(text) !== undefined,
    origin: isOrigin,
    iban: isIban,
    'sepa-iban': isSepaIban,
    'creditor-identifier': isCreditorIdentifier,
    bic: isBic,
    country: isCountryCode,
    double: true,
  },
})

export const compileValidator = (schema: object): ValidateFunction => ajv.compile(schema)

export const compileSerializer = (schema: object): ((value: unknown) => string) =>
  fastJson(schema as Parameters<typeof fastJson>[0])
