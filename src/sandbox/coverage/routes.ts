import { call } from '../route.js'
import { answerCoverage } from './answer.js'
import { CoverageQuery, CoverageReport } from './schemas.js'

export const getCoverage = call({
  isGlobal: true,
  errors: ['CLIENT_NOT_FOUND'],
  summary: 'The operations, statuses, error codes, states and pages that the app has seen since its reset, or missed',
  description:
    'Only requests of the API count, and only those with an answer. Only errors that an app has to handle can ' +
    'be missed. A fork counts for its origin too, also after it is gone, until the origin is reset. The coverage is ' +
    'kept in memory, of one server: each server of a database counts its own answers, and a start begins again.',
  querystring: CoverageQuery,
  response: CoverageReport,
  handle: answerCoverage,
})
