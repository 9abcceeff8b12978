import fc from 'fast-check'
import t from 'tap'
import { isHostPattern, isLocalName, matchesHost, parseHost } from '../../src/core/hosts.js'
import { isAllowedOrigin } from '../../src/core/origins.js'
import { assertAccepts, assertReturns, words } from './texts.js'

t.test('control plane, Keep web pages out: a Host header has a name, without port and final dot', async t => {
  const label = 'a'.repeat(63)
  const longest = [label, label, label, label.slice(2)].join('.')
  assertReturns(t, text => Object.values(parseHost(text) ?? {}).join(' '), [
    ['localhost', 'localhost localhost'],
    ['LocalHost:8080', 'localhost:8080 localhost'],
    ['sandbox.example.com.', 'sandbox.example.com. sandbox.example.com'],
    ['my_service:80', 'my_service my_service'],
    ['a:', 'a a'],
    ['127.0.0.1:65535', '127.0.0.1:65535 127.0.0.1'],
    ['0x7f.1', '127.0.0.1 127.0.0.1'],
    ['[::1]:8080', '[::1]:8080 [::1]'],
    ['[FE80::1%eth0]:8080', '[fe80::1]:8080 [fe80::1]'],
    ['[fe80::1%25eth0]', '[fe80::1] [fe80::1]'],
    [`${longest}.:65535`, `${longest}.:65535 ${longest}`],
    [`${longest}a.:65535`, ''],
    [`[fe80::1%${'e'.repeat(251)}]`, ''],
  ])
  const wrong = words(`
    a@b a/b a?b a#b a\\b ä.example a:b . : a:80:80 :80 a:65536 a:-1 ::1 [::1 [::g] [] 256.1.1.1 http://a <a> a%zz
    [::1%"] [::1%] [::1%<a>] e%76il.example a$b a%24b a'b $(id).localhost a;b a&b a~b`)
  assertAccepts(t, host => parseHost(host) !== undefined, [], ['', ' ', 'a b', 'a,b c', ...wrong])
})

t.test('control plane, Keep web pages out: names that no public DNS resolves are local', async t => {
  const local = words(`
    127.0.0.1 10.1.2.3 [::1] 8.8.8.8 localhost sandbox my_service a.localhost my-mac.local host.docker.internal
    api.test sandbox.payments.svc a.b.svc.cluster.local`)
  const others = words('a.example localhost.example.com 127.0.0.1.nip.io local.com a.notlocal svc.cluster.com')
  assertAccepts(t, isLocalName, local, others)
})

t.test('control plane, Keep web pages out: an allowed host is a name, or all subdomains of one', async t => {
  const patterns = ['Sandbox.Example.com', '*.ci.example', '[::1]']
  const names = words('sandbox.example.com a.ci.example a.b.ci.example [::1]')
  const others = words('example.com a.sandbox.example.com ci.example aci.example ci.example.org')
  assertAccepts(t, name => matchesHost(name, patterns), names, others)
  assertAccepts(t, isHostPattern, patterns)
})

t.test('decisions §8: an origin matches by scheme, whole host and port', async t => {
  const patterns = ['https://Shop.example', 'http://localhost:*', 'https://a.example:8443']
  const origins = words(
    'https://shop.example https://shop.example:443 http://localhost http://localhost:1 https://a.example:8443',
  )
  const others = words(`
    http://shop.example https://shop.example:8443 https://a.shop.example https://shop.example.org https://localhost:1
    http://my.localhost:1 http://mylocalhost:1 https://a.example http://a.example:8443`)
  assertAccepts(t, origin => isAllowedOrigin(origin, patterns), origins, others)
})

t.test('control plane, Keep web pages out: no spelling of a public name is local', async () => {
  const label = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/)
  fc.assert(
    fc.property(
      label,
      label,
      fc.constantFrom('', '.'),
      fc.constantFrom('', ':80'),
      fc.boolean(),
      (a, b, dot, port, up) => {
        const name = `${a}.${b}.example`
        const host = parseHost(`${up ? name.toUpperCase() : name}${dot}${port}`)?.name
        return host === name && !isLocalName(host)
      },
    ),
  )
})
