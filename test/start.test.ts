import { execFileSync, fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { Test } from 'tap'
import t from 'tap'
import { buildProgram, environment, requestTokenAt } from './program.js'

// issue 4, item 5: what is loaded at the start, by counts. A start takes as long as what it loads.

/** Answers what its process has loaded so far, whenever it is asked. */
const PROBE = `
process.on('message', () => {
  const files = Object.keys(require.cache).filter(file => file.startsWith(__dirname + '/dist/'))
  process.send({ files, builtIns: process.moduleLoadList })
})
process.channel?.unref()
`

interface Loaded {
  readonly files: readonly string[]
  readonly builtIns: readonly string[]
}

async function start(t: Test, folder: string) {
  const server = fork(join(folder, 'dist/main.js'), {
    execArgv: ['--require', join(folder, 'probe.cjs')],
    env: { ...environment, HOST: '127.0.0.1', PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  t.teardown(() => server.kill('SIGKILL'))
  let url = ''
  for await (const line of createInterface({ input: server.stdout as Readable })) {
    url = JSON.parse(line).url ?? ''
    if (url !== '') break
  }
  async function loaded(): Promise<Loaded> {
    server.send('tell')
    const [message] = await once(server, 'message')
    return message
  }
  return { url, loaded }
}

/** The CommonJS modules of packages in a file of the bundle, which keeps their paths. */
const modulesOf = (file: string): readonly string[] =>
  Array.from(readFileSync(file, 'utf8').matchAll(/"[^"\n]*node_modules\/([^"\n]+)"\(/g), ([, path]) => path as string)

t.test('a start loads little', async t => {
  const folder = t.testdir({ 'probe.cjs': PROBE })
  buildProgram(folder)
  const { url, loaded } = await start(t, folder)
  const { files, builtIns } = await loaded()
  const names = files.map(file => basename(file))

  t.ok(files.length <= 14, `files: ${names.join(', ')}`)
  const bytes = files.reduce((sum, file) => sum + readFileSync(file).length, 0)
  t.ok(bytes <= 850_000, `bytes: ${bytes}`)
  const modules = files.flatMap(modulesOf)
  t.ok(modules.includes('fastify/fastify.js'), 'modules can be told')
  for (const late of ['ajv/dist/ajv.js', 'fast-json-stringify/index.js', 'light-my-request/', 'pino-pretty/']) {
    t.notOk(
      modules.find(path => path.startsWith(late)),
      `without ${late}`,
    )
  }
  for (const unused of ['semver/', 'thread-stream/', '@fastify/ajv-compiler/', '@fastify/proxy-addr/']) {
    t.notOk(
      modules.find(path => path.startsWith(unused)),
      `without ${unused}`,
    )
  }
  for (const name of ['http2', 'https', 'tls'])
    t.notOk(builtIns.includes(`NativeModule ${name}`), `without node:${name}`)

  // The validators come with the first request.
  const token = await requestTokenAt(url)
  t.equal(token.status, 200)
  const later = await loaded()
  const added = later.files.filter(file => !files.includes(file))
  t.same(
    added.map(file => basename(file).replace(/-\w+\.js$/, '')),
    ['compiler'],
  )

  const recording = join(folder, 'recording.json')
  writeFileSync(recording, await (await fetch(`${url}/_sandbox/recording`)).text())
  const replay = spawnSync(process.execPath, [join(folder, 'dist/main.js'), 'replay', recording], {
    env: environment,
    encoding: 'utf8',
  })
  t.equal(replay.status, 0, `what replays alone need is there, too: ${replay.stderr}`)

  // Whoever connects to a server elsewhere loads none.
  const program = `require(${JSON.stringify(join(folder, 'dist/library.js'))}); Object.keys(require.cache).join()`
  const library = execFileSync(process.execPath, ['-p', program], { env: environment, encoding: 'utf8' }).trim()
  t.same(
    library
      .split(',')
      .filter(file => file.startsWith(folder))
      .flatMap(modulesOf),
    [],
    'the library alone holds no package',
  )
})
