import fp from 'fastify-plugin'

/**
 * Lets each route of GET answer HEAD (decisions §1). Fastify would add a route of its own for each, which takes
 * time whenever a server is built. Node sends no content of an answer to HEAD.
 */
export const head = fp((app, _options, done) => {
  app.addHook('onRoute', route => {
    if (route.method === 'GET') route.method = ['GET', 'HEAD']
  })
  app.addHook('onSend', ({ method }, reply, payload, next) => {
    // Fastify does this for GET.
    if (method === 'HEAD' && payload === undefined) reply.header('content-length', '0')
    next()
  })
  done()
})
