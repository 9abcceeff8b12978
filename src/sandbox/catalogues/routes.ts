import type { ReasonCode } from '../../areas/direct-debit/reason-codes.js'
import { phases, reasonCodes } from '../../areas/direct-debit/reason-codes.js'
import type { CatalogueEntry } from '../../core/errors.js'
import { catalogue } from '../../core/errors.js'
import { call } from '../route.js'
import * as schemas from './schemas.js'

export const listReasonCodes = call({
  isGlobal: true,
  summary: 'The reason codes of collections: the phases and the time in which each is legal, and its origin',
  response: schemas.ReasonCodeTable,
  handle: () => ({ data: reasonCodes.map(describeReasonCode) }),
})

export const listErrors = call({
  isGlobal: true,
  summary: 'The error catalogue',
  response: schemas.ErrorTable,
  handle: () => ({
    data: Object.entries<CatalogueEntry>(catalogue).map(([code, { status, when, 'x-fidelity': fidelity }]) => ({
      code,
      status,
      when,
      fidelity,
    })),
  }),
})

const describeReasonCode = ({ code, name, phases: legal }: ReasonCode) => ({
  code,
  name,
  phases: legal,
  windows: legal.map(phase => {
    const { limit, ...rules } = phases[phase]
    return { phase, ...rules, until: limit?.text ?? null }
  }),
  fidelity: 'assumed',
})
