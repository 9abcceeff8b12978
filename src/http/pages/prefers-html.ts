import type { FastifyRequest } from 'fastify'

/** Whether a request prefers a page to JSON. One that prefers neither gets JSON. */
export const prefersHtml = (request: FastifyRequest): boolean =>
  request.type(['application/json', 'text/html']) === 'text/html'
