import type { FastifyRequest } from 'fastify'

/** Returns whether a client has used the public URL of the server, and not another of its names. */
export const isPublicHost = ({ headers: { host }, sandbox: { publicUrl } }: FastifyRequest): boolean =>
  !host || new URL(publicUrl).host === host.toLowerCase()

/** Returns the path prefix by which the client of a request reaches the server: that of the public URL, for a client that uses it. */
export const prefixOf = (request: FastifyRequest): string =>
  request.sandbox?.publicUrl && isPublicHost(request)
    ? new URL(request.sandbox.publicUrl).pathname.replace(/\/$/, '')
    : ''
