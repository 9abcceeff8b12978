import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import t from 'tap'
import { parse } from 'yaml'
import { ConfigError, optionOf, readConfig, SETTINGS, unknownVariables } from '../../src/config.js'

const MIB = 1024 * 1024

/** Returns the message with which settings are refused; empty: they are not. */
function refusalOf(settings: Readonly<Record<string, string>>): string {
  try {
    readConfig(settings)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  return ''
}

t.test('settings, Settings: the defaults', async t => {
  const { seed, ...rest } = readConfig({})
  t.match(rest, {
    host: '127.0.0.1',
    port: 8080,
    logLevel: 'info',
    frozenAt: undefined,
    fixtures: undefined,
    clients: [],
    openRegistration: true,
    maxTenants: 2000,
    tokenLifetime: 3600,
    publicUrl: undefined,
    allowedHosts: [],
    corsOrigins: [],
    adminToken: undefined,
    requestLogEntries: 1000,
    requestLogBytes: 16 * MIB,
    stateBytes: 64 * MIB,
    fixture: 'demo',
    data: undefined,
    sqliteSynchronous: 'full',
    isSeedGiven: false,
  })
  t.match(seed, /^.{8,}$/)
})

t.test('control plane, SANDBOX_SEED: random by default', async t => {
  t.not(readConfig({}).seed, readConfig({}).seed)
})

t.test('settings, Settings: a variable that is empty counts as not set', async t => {
  const names = SETTINGS.map(({ variable }) => variable)
  const { seed: _, ...empty } = readConfig(Object.fromEntries(names.map(name => [name, ''])))
  const { seed: __, ...unset } = readConfig({})
  t.same(empty, unset)
})

const right: [name: string, value: string, member: string, expected: unknown][] = [
  ['HOST', '0.0.0.0', 'host', '0.0.0.0'],
  ['HOST', '::', 'host', '::'],
  ['HOST', 'fe80::1%eth0', 'host', 'fe80::1%eth0'],
  ['HOST', 'my-host.example', 'host', 'my-host.example'],
  ['PORT', '0', 'port', 0],
  ['PORT', '1', 'port', 1],
  ['PORT', '65535', 'port', 65_535],
  ...['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'].map((level): [string, string, string, string] => [
    'LOG_LEVEL',
    level,
    'logLevel',
    level,
  ]),
  ['SANDBOX_SEED', 'my seed', 'seed', 'my seed'],
  ['SANDBOX_SEED', '0', 'seed', '0'],
  ['SANDBOX_SEED', 'x'.repeat(256), 'seed', 'x'.repeat(256)],
  ['SANDBOX_CLOCK', 'real', 'frozenAt', undefined],
  ['SANDBOX_CLOCK', '2026-11-02T09:00:00Z', 'frozenAt', Date.parse('2026-11-02T09:00:00Z')],
  ['SANDBOX_FIXTURES', './my/fixtures', 'fixtures', './my/fixtures'],
  ['SANDBOX_OPEN_REGISTRATION', 'true', 'openRegistration', true],
  ['SANDBOX_OPEN_REGISTRATION', 'false', 'openRegistration', false],
  ['SANDBOX_MAX_TENANTS', '1', 'maxTenants', 1],
  ['SANDBOX_MAX_TENANTS', '50000', 'maxTenants', 50_000],
  ['SANDBOX_TOKEN_TTL', '1', 'tokenLifetime', 1],
  ['SANDBOX_TOKEN_TTL', '86400', 'tokenLifetime', 86_400],
  ['SANDBOX_PUBLIC_URL', 'https://pay.example', 'publicUrl', 'https://pay.example'],
  ['SANDBOX_PUBLIC_URL', 'http://localhost:8080/', 'publicUrl', 'http://localhost:8080'],
  ['SANDBOX_PUBLIC_URL', 'http://localhost/@team', 'publicUrl', 'http://localhost/@team'],
  ['SANDBOX_PUBLIC_URL', 'https://pay.example/sandbox//', 'publicUrl', 'https://pay.example/sandbox'],
  ['SANDBOX_ALLOWED_HOSTS', 'a.example', 'allowedHosts', ['a.example']],
  ['SANDBOX_ALLOWED_HOSTS', 'A.example, *.b.example,[::1]', 'allowedHosts', ['A.example', '*.b.example', '[::1]']],
  ['SANDBOX_CORS_ORIGINS', 'https://a.example', 'corsOrigins', ['https://a.example']],
  [
    'SANDBOX_CORS_ORIGINS',
    'https://a.example:8443, http://localhost:*',
    'corsOrigins',
    ['https://a.example:8443', 'http://localhost:*'],
  ],
  ['SANDBOX_ADMIN_TOKEN', 'a-token.of~any+kind/==', 'adminToken', 'a-token.of~any+kind/=='],
  ['SANDBOX_ADMIN_TOKEN', 'x'.repeat(1000), 'adminToken', 'x'.repeat(1000)],
  ['SANDBOX_REQUEST_LOG_ENTRIES', '0', 'requestLogEntries', 0],
  ['SANDBOX_REQUEST_LOG_ENTRIES', '1000000', 'requestLogEntries', 1_000_000],
  ['SANDBOX_REQUEST_LOG_BYTES', '0', 'requestLogBytes', 0],
  ['SANDBOX_REQUEST_LOG_BYTES', '8589934592', 'requestLogBytes', 8192 * MIB],
  // The former names.
  ['SANDBOX_JOURNAL_ENTRIES', '5', 'requestLogEntries', 5],
  ['SANDBOX_JOURNAL_BYTES', '5', 'requestLogBytes', 5],
  ['SANDBOX_STATE_BYTES', '1', 'stateBytes', 1],
  ['SANDBOX_STATE_BYTES', '268435456', 'stateBytes', 256 * MIB],
  ['SANDBOX_FIXTURE', 'empty', 'fixture', 'empty'],
  ['SANDBOX_DATA', './my data', 'data', './my data'],
  ['SANDBOX_SQLITE_SYNCHRONOUS', '', 'sqliteSynchronous', 'full'],
  ['SANDBOX_SQLITE_SYNCHRONOUS', 'full', 'sqliteSynchronous', 'full'],
  ['SANDBOX_SQLITE_SYNCHRONOUS', 'normal', 'sqliteSynchronous', 'normal'],
  ['SANDBOX_SEED', '0', 'isSeedGiven', true],
]

t.test('settings, Settings: each setting has an option and a row of the table', async t => {
  const page = readFileSync('docs/settings.md', 'utf8')
  for (const { variable } of SETTINGS) {
    t.ok(page.includes(`| \`${variable}\` |`), variable)
  }
  t.same(['HOST', 'SANDBOX_TOKEN_TTL'].map(optionOf), ['host', 'token-ttl'])
})

t.test('settings, Settings: a setting is read by its former name only if it is not given', async t => {
  const former = { SANDBOX_JOURNAL_ENTRIES: '2' }
  t.equal(readConfig({ ...former, SANDBOX_REQUEST_LOG_ENTRIES: '1' }).requestLogEntries, 1)
  t.equal(readConfig({ ...former, SANDBOX_REQUEST_LOG_ENTRIES: '' }).requestLogEntries, 2)
})

t.test('settings, Settings: right values', async t => {
  for (const [name, value, member, expected] of right) {
    const config: Record<string, unknown> = { ...readConfig({ [name]: value }) }
    t.same(config[member], expected, `${name}=${value}`)
  }
})

t.test('settings, Settings: a mistyped variable ends the start with the nearest name', async t => {
  for (const [name, nearest] of [
    ['SANDBOX_SEEED', 'SANDBOX_SEED'],
    ['SANDBOX_SEDE', 'SANDBOX_SEED'],
    ['SANDBOX_ADMINTOKEN', 'SANDBOX_ADMIN_TOKEN'],
    ['SANDBOX_ALLOWED_HOST', 'SANDBOX_ALLOWED_HOSTS'],
    ['sandbox_clock', 'SANDBOX_CLOCK'],
    ['SANDBOX_PORT', 'PORT'],
    ['SANDBOX_LOG_LEVEL', 'LOG_LEVEL'],
  ] as const) {
    const message = `${name} is no setting. Did you mean ${nearest}?`
    t.throws(() => unknownVariables({ [name]: 'hush' }), new ConfigError(message), name)
    t.same(unknownVariables({ [name]: '' }), [], 'an empty one counts as not set')
  }
})

t.test('settings, Settings: other variables that begin as settings do are ignored', async t => {
  const others = [
    'ID',
    'RUNTIME',
    'API_KEY',
    'MOUNTS',
    'HOME',
    'TOKEN_URL',
    'TOKEN',
    'SERVICE_HOST',
    'X'.repeat(10_000),
  ]
  const names = others.map(name => `SANDBOX_${name}`)
  t.same(unknownVariables(Object.fromEntries(names.map(name => [name, '1']))), names)
  const known = ['SANDBOX_URL', 'SANDBOX_CLIENT', 'SANDBOX_JOURNAL_BYTES', 'SANDBOX_SEED', 'OTHER_SEEED']
  t.same(unknownVariables(Object.fromEntries(known.map(name => [name, '1']))), [])
  // Kubernetes sets it for a service `sandbox`.
  t.same(unknownVariables({ SANDBOX_PORT: 'tcp://10.0.0.1:80' }), [])
})

t.test('settings, Settings: docker-compose.yml has each setting with its default, which the shell sets', async t => {
  const { services } = parse(readFileSync('docker-compose.yml', 'utf8'))
  const given = Object.entries<string>(services['payments-sandbox'].environment)
  // The image sets the others.
  const expected = SETTINGS.map(({ variable }) => variable).filter(name => name !== 'HOST' && name !== 'PORT')
  t.same(given.map(([name]) => name).sort(), [...expected].sort())
  const environment = given.map(([name, value]) => {
    const [, shell, byDefault] = /^\$\{([A-Z_]+):-(.*)\}$/.exec(value) ?? []
    t.equal(shell, name)
    return [name, byDefault]
  })
  const { seed: _, ...config } = readConfig(Object.fromEntries(environment))
  const { seed: __, ...defaults } = readConfig({})
  t.same(config, defaults)
})

const wrong: [name: string, values: string[], allowed: RegExp][] = [
  ['HOST', ['a b', 'http://x', 'a/b', '[::1]', 'ä'], /host name or address/],
  ['PORT', ['-1', '65536', '80.5', 'http', ' 80', '0x50', '1e3', '99999999999'], /integer from 0 to 65535/],
  ['LOG_LEVEL', ['verbose', 'INFO', '30'], /fatal, error, warn, info, debug, trace, silent/],
  ['SANDBOX_SEED', ['x'.repeat(257), 'ä', 'a\nb', '\u0000'], /256 printable ASCII/],
  [
    'SANDBOX_CLOCK',
    ['2026-11-02', '2026-11-02T09:00:00', '2026-02-30T00:00:00Z', 'now', 'Real', '2026-11-02T09:00:00.000Z'],
    /real.*YYYY-MM-DDThh:mm:ssZ/,
  ],
  ['SANDBOX_OPEN_REGISTRATION', ['yes', '1', 'TRUE', 'False'], /true or false/],
  ['SANDBOX_MAX_TENANTS', ['0', '-1', '1.5', 'many'], /integer from 1/],
  ['SANDBOX_SQLITE_SYNCHRONOUS', ['off', 'FULL', '1'], /full or normal/],
  [
    'SANDBOX_ALLOWED_HOSTS',
    ['*', '*.', ',', 'a.example,', 'a.example:80', 'http://a.example', 'a b', 'a/b', 'a@b', '256.1.1.1', 'ä.example'],
    /host names without ports/,
  ],
  ['SANDBOX_CORS_ORIGINS', ['*', 'a.example', 'https://a.example/', 'null', 'https://*.a.example', ','], /origins/],
  ['SANDBOX_TOKEN_TTL', ['0', '-1', '1.5', 'PT1H'], /integer from 1/],
  [
    'SANDBOX_PUBLIC_URL',
    [
      'pay.example',
      'ftp://pay.example',
      'https://',
      'https://pay.example?a=b',
      'https://pay.example#a',
      'https://a b',
      'https://user:password@pay.example',
      'https://:password@pay.example',
      '/x',
    ],
    /http.*https.*URL/,
  ],
  ['SANDBOX_JOURNAL_ENTRIES', ['-1'], /integer from 0 to 1000000\b/],
  ['SANDBOX_REQUEST_LOG_ENTRIES', ['-1', '1000001', '1.5', '1e3', 'all', ' 1'], /integer from 0 to 1000000\b/],
  ['SANDBOX_REQUEST_LOG_BYTES', ['-1', '8589934593', '16MiB', '16 777 216', '0x10'], /integer from 0 to 8589934592\b/],
  ['SANDBOX_STATE_BYTES', ['0', '268435457', '32MiB'], /integer from 1 to 268435456\b/],
]

t.test('settings, Settings: a wrong value: one line that names variable, value and what is allowed', async t => {
  const others: unknown[] = []
  for (const [name, values, allowed] of wrong) {
    for (const value of values) {
      const message = refusalOf({ [name]: value })
      const isRight =
        message.startsWith(`${name}=`) &&
        message.includes(JSON.stringify(value).slice(1, 70)) &&
        !message.includes('\n') &&
        allowed.test(message)
      if (!isRight) others.push([name, value, message])
    }
  }
  t.same(others, [])
})

t.test('control plane, SANDBOX_ADMIN_TOKEN: a wrong one is a secret, too: the line does not repeat it', async t => {
  for (const value of ['hush hush', ' hush', 'hush\n', 'hüsh', 'hush\u0000', 'hush'.repeat(251)]) {
    const message = refusalOf({ SANDBOX_ADMIN_TOKEN: value })
    t.match(message, /^SANDBOX_ADMIN_TOKEN is not allowed: .*1000 printable ASCII/, JSON.stringify(value))
    t.notMatch(message, /\n|hush|hüsh/)
  }
})

t.test('settings, Settings: a value that is very long is shortened', async t => {
  t.throws(() => readConfig({ LOG_LEVEL: 'x'.repeat(10_000) }), { message: /^.{50,300}$/ })
})

// --------------------------------------------------------------------------------------------------- SANDBOX_CLIENTS

t.test('settings, SANDBOX_DATA: ~ is the home folder', async t => {
  const data = (SANDBOX_DATA: string) => readConfig({ SANDBOX_DATA }).data
  t.same([data('~/x'), data('~'), data('./~/x'), data('~x')], [`${homedir()}/x`, homedir(), './~/x', '~x'])
})

t.test('settings, SANDBOX_CLIENTS: a JSON file of clients', async t => {
  const clients = [
    { clientId: 'one', clientSecret: 's1' },
    {
      clientId: 'two',
      clientSecret: 's2',
      scope: 'payments read',
      fixture: 'demo',
      allowedOrigins: ['https://shop.example', 'http://localhost:3000'],
      senderName: '€'.repeat(140),
    },
  ]
  const text = JSON.stringify(clients)
  const folder = t.testdir({ 'clients.json': text, 'marked.json': `\ufeff${text}`, 'none.json': '[]' })
  t.same(readConfig({ SANDBOX_CLIENTS: `${folder}/marked.json` }).clients, clients, 'with a byte order mark')
  t.same(readConfig({ SANDBOX_CLIENTS: `${folder}/clients.json` }).clients, clients)
  t.same(readConfig({ SANDBOX_CLIENTS: `${folder}/none.json` }).clients, [])
})

const good = { clientId: 'one', clientSecret: 's1' }
const wrongClients: Record<string, unknown> = {
  'an object': { clients: [good] },
  null: null,
  'a list of nothing': [null],
  'a list of text': ['one'],
  'no clientId': [good, { clientSecret: 's1' }],
  'no clientSecret': [good, { clientId: 'two' }],
  'an empty clientId': [{ ...good, clientId: '' }],
  'a clientId that begins with a space': [{ ...good, clientId: ' one' }],
  'a clientId of two lines': [{ ...good, clientId: 'one\ntwo' }],
  'a clientId with NUL': [{ ...good, clientId: 'one\0' }],
  'a clientId of 501 characters': [{ ...good, clientId: 'x'.repeat(501) }],
  'a clientId that is no Unicode': [{ ...good, clientId: 'one\ud800' }],
  'a clientId that is a number': [{ ...good, clientId: 1 }],
  'an empty clientSecret': [{ ...good, clientSecret: '' }],
  'a numeric clientSecret': [{ ...good, clientSecret: 1 }],
  'a scope that is a list': [{ ...good, scope: ['payments'] }],
  'an empty fixture': [{ ...good, fixture: '' }],
  'origins that are a text': [{ ...good, allowedOrigins: 'https://shop.example' }],
  'an origin that is none': [{ ...good, allowedOrigins: ['shop'] }],
  'an origin that is a number': [{ ...good, allowedOrigins: [1] }],
  'an empty senderName': [{ ...good, senderName: '' }],
  'a blank senderName': [{ ...good, senderName: ' ' }],
  'a senderName with a line break': [{ ...good, senderName: 'Acme\n' }],
  'a senderName that is null': [{ ...good, senderName: null }],
  'a senderName of 141 characters': [{ ...good, senderName: '€'.repeat(141) }],
}

t.test('settings, SANDBOX_CLIENTS: what is no such file is refused, without telling a secret', async t => {
  const folder = t.testdir({
    'broken.json': '[{"clientId": "one", "clientSecret": "hush-hush"',
    ...Object.fromEntries(
      Object.entries(wrongClients).map(([name, content]) => [`${name}.json`, JSON.stringify(content)]),
    ),
  })
  for (const name of ['missing', 'broken', ...Object.keys(wrongClients)]) {
    const path = `${folder}/${name}.json`
    const message = refusalOf({ SANDBOX_CLIENTS: path })
    const reason = name === 'missing' ? /cannot be read: ENOENT\.$/ : /JSON file.*clientId.*clientSecret/
    t.match(message, reason, name)
    t.match(message, /^SANDBOX_CLIENTS=/)
    t.notMatch(message, '\n')
    t.notMatch(message, 'hush-hush')
  }
})

t.test('settings, SANDBOX_CLIENTS: a client stands in it once, and origins are origins', async t => {
  const client = { clientId: 'acme', clientSecret: 'hush' }
  const folder = t.testdir({
    'twice.json': JSON.stringify([client, { ...client, clientSecret: 'other' }]),
    'mail.json': JSON.stringify([{ ...client, allowedOrigins: ['mailto:x@shop.example'] }]),
    'path.json': JSON.stringify([{ ...client, allowedOrigins: ['https://shop.example/path'] }]),
    'slash.json': JSON.stringify([{ ...client, allowedOrigins: ['https://shop.example\\\\evil.example'] }]),
  })
  for (const name of ['twice', 'mail', 'path', 'slash']) {
    t.throws(() => readConfig({ SANDBOX_CLIENTS: `${folder}/${name}.json` }), { message: /^SANDBOX_CLIENTS=/ }, name)
  }
})

t.test('persistence, SANDBOX_DATABASE_URL: needs a seed, excludes SANDBOX_DATA, and is in no message', async t => {
  const url = 'postgres://user:hush@db.example/sandbox'
  t.equal(readConfig({ SANDBOX_DATABASE_URL: url, SANDBOX_SEED: 'x' }).databaseUrl, url)
  for (const [settings, reason] of [
    [{ SANDBOX_DATABASE_URL: url }, /SANDBOX_SEED/],
    [{ SANDBOX_DATABASE_URL: url, SANDBOX_SEED: 'x', SANDBOX_DATA: '/data' }, /SANDBOX_DATA/],
    [{ SANDBOX_DATABASE_URL: 'mysql://user:hush@db.example/sandbox', SANDBOX_SEED: 'x' }, /postgres:\/\//],
    [{ SANDBOX_DATABASE_URL: 'postgres://user:hush@:x', SANDBOX_SEED: 'x' }, /postgres:\/\//],
  ] as const) {
    const message = refusalOf(settings)
    t.match(message, reason)
    t.match(message, /^SANDBOX_DATABASE_URL/)
    t.notMatch(message, /hush|\n/)
  }
})
