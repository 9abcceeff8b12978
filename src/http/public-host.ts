import type { FastifyRequest } from 'fastify'

/** Returns whether a client has used the public URL of the server, and not another of its names. */
export const isPublicHost = ({ headers: { host } }: FastifyRequest, publicUrl: URL): boolean =>
  !host || publicUrl.host === host.toLowerCase()
