import { join } from 'node:path'
import t from 'tap'
import { install } from './install.js'

t.test('commands, Before you begin: the commands of the installed package', async t => {
  const { bin, start } = install()
  const { url } = await start(t)
  const env = { SANDBOX_URL: url, SANDBOX_CLIENT: 'shop' }
  const file = join(t.testdir(), 'shop.json')
  for (const [args, output] of [
    [['token'], /^\S+\n$/],
    [['scenario', 'collection-settled'], /values\.collectionReference +COL-SCN-0001\n/],
    [['return', 'COL-SCN-0001', 'AM04'], /\nstatus +RETURNED\n/],
    [['explain', 'COL-SCN-0001'], /\nreasonCode +AM04\n/],
    [['advance', '--by', 'P10D', '--json'], /^\{"now":"[^"]+","transitions":\[/],
    [['faults', 'arm', '--effect.kind', 'drop', '--effect.when', 'after'], /^id +fault-1\n/],
    [['verify', '-'], /^matched +true\n/],
    [['requests'], /\n1 +\S+ +POST +\/api\/v1\/oauth\/token +200/],
    [['coverage'], /^clients +shop\n/],
    [['state', 'save', file], /^$/],
    [['state', 'load', file], /^clientId +shop\n/],
    [['completion', 'bash'], /complete .*payments-sandbox\n$/],
    [['clock', '--help'], /^Usage: payments-sandbox clock /],
  ] as const) {
    const { code, stdout, stderr } = await bin(args, { env, input: 'method: POST\ntimes: 1\n' })
    t.same([code, stderr], [0, ''], args.join(' '))
    t.match(stdout, output, args.join(' '))
  }
  t.match(await bin(['verify', '--method', 'GET'], { env }), { code: 1, stdout: '', stderr: /expected at least 1/ })
  t.match(await bin(['advance', '--by'], { env }), { code: 2 })
  t.match(await bin(['clock', '--url', 'http://127.0.0.1:9'], { env }), { code: 3, stderr: /^UNREACHABLE - / })
})
