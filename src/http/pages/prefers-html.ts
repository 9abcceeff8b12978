import type { FastifyRequest } from 'fastify'
import { preferredType } from '../negotiation.js'

/** Whether a request prefers a page to JSON. One that prefers neither gets JSON. */
export const prefersHtml = (request: FastifyRequest): boolean =>
  preferredType(request, ['application/json', 'text/html']) === 'text/html'
