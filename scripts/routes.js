// Prints the routes of a server, with the hooks that a request of each crosses, in their order. Run by `npm run routes`.
import { buildServer } from '../dist/server.js'

const { app } = buildServer({
  ...{ seed: 'routes', fixtures: new Map(), clients: [], openRegistration: true, maxTenants: 1, tokenLifetime: 1 },
  publicUrl: () => 'http://localhost',
})
await app.ready()
console.log(app.printRoutes({ includeHooks: true, commonPrefix: false }))
await app.close()
