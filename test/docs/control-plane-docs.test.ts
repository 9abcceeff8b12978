import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { build, call } from '../helper.js'
import { listen } from '../http/raw.js'
import { environment, PLAIN, program } from '../program.js'
import { run } from './shell.js'
import { skip, stepsIn, walkSteps } from './walk.js'

const PAGE = 'docs/control-plane.md'
const text = readFileSync(PAGE, 'utf8')

const tasks = text
  .split(/^## /m)
  .slice(2)
  .map(task => ({ title: task.slice(0, task.indexOf('\n')), steps: stepsIn(task) }))

t.test('control plane, Before you begin: each task works alone, and shows its answers', { skip }, async t => {
  t.ok(tasks.length >= 12, `${tasks.length} tasks`)
  // Each has a server of its own, so that no task needs another one. Some wait, meanwhile others go on.
  const walkTask = async ({ title, steps }: (typeof tasks)[number]) => {
    t.ok(
      steps.some(({ answer }) => answer !== undefined),
      title,
    )
    const url = `http://127.0.0.1:${await listen(build(t, { clock: 'real', now: Date.now }))}`
    await walkSteps(t, steps, url, script => run(script, join(t.testdirName, title)))
  }
  t.testdir(Object.fromEntries(tasks.map(({ title }) => [title, {}])))
  await Promise.all(tasks.map(walkTask))
})

t.test('control plane, Before you begin: the reference names every route, and is made from the document', async t => {
  const reference = readFileSync('docs/control-plane-reference.md', 'utf8')
  const { routes } = (await call(build(t), 'GET', '/_sandbox')).body as { routes: { method: string; path: string }[] }
  const missing = routes
    .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`)
    .filter(call => !reference.includes(`### \`${call}\`\n`))
  t.same(missing, [])
  const made = join(t.testdir(), 'reference.md')
  execFileSync(process.execPath, ['scripts/reference.js', made])
  t.equal(readFileSync(made, 'utf8'), reference, 'run npm run openapi')
})

t.test('control plane, Before you begin: the command is the server itself, so that kill ends it', { skip }, async t => {
  const [definition = ''] = /alias payments-sandbox='[^']+'/.exec(text) ?? []
  const script = [
    'shopt -s expand_aliases',
    definition.replace('/path/to/the/clone/dist/bin/cli.js', program.main),
    'payments-sandbox --port 0 & SERVER=$!',
    'echo "{\\"server\\": $SERVER}"',
    'wait $SERVER',
  ]
  const [command, ...options] = PLAIN
  const shell = spawn(command, [...options, 'bash', '-c', script.join('\n')], { env: environment })
  const closed = once(shell, 'close')
  let started = 0
  for await (const line of createInterface(shell.stdout)) {
    const { server, pid, msg } = JSON.parse(line)
    started = server ?? started
    if (msg?.includes('ready')) {
      t.equal(pid, started)
      process.kill(pid)
    }
  }
  t.same(await closed, [0, null])
})
