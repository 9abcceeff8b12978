import t from 'tap'
import { build } from '../helper.js'

t.test('ARCHITECTURE, The walk of a request: all hooks have names, and a request crosses at most 12', async t => {
  const app = build(t, { adminToken: 'admin' })
  await app.ready()
  const routes = app.printRoutes({ includeHooks: true, commonPrefix: false })
  const lines = routes.split('\n')
  const at = lines.findIndex(line => line.includes('/api/v1/direct-debit (POST'))
  const hooks = lines.slice(at + 1, at + 6).flatMap(line => line.match(/\w+(?=\(\))/g) ?? [])
  // A hook of all tests checks their answers.
  t.same(
    hooks.filter(name => name !== 'check').join(' '),
    [
      ...['beginRequest', 'guardOrigin', 'findRoute', 'authenticate', 'readRegion', 'refuseSunset', 'readBodyHeaders'],
      ...['findUnknownNames', 'keepContent', 'addHeaders', 'observe', 'deliver'],
    ].join(' '),
  )
  // The hooks of packages have none: the console reads forms with files.
  t.notMatch(routes.slice(0, routes.indexOf('/console')), /anonymous/)
})
