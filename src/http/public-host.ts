import type { FastifyRequest } from 'fastify'

/** Returns whether a client has used the public URL of the server, and not another of its names. */
export function isPublicHost({ sandbox: { host, publicUrl } }: FastifyRequest): boolean {
  const { protocol, origin } = new URL(publicUrl)
  // The default port depends on the scheme.
  return host === '' || new URL(`${protocol}//${host}`).origin === origin
}

/** Returns the path prefix by which the client of a request reaches the server: that of the public URL, for a client that uses it. */
export const prefixOf = (request: FastifyRequest): string =>
  request.sandbox?.publicUrl && isPublicHost(request)
    ? new URL(request.sandbox.publicUrl).pathname.replace(/\/$/, '')
    : ''
