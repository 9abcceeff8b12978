import { execFile, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { freePort } from '../free-port.js'
import { build } from '../helper.js'
import { listen } from '../http/raw.js'
import { environment } from '../program.js'
import { linkProgram } from './shell.js'

const page = readFileSync('docs/ci.md', 'utf8')
/** The files of the page, whose first line names them. */
const files: Record<string, string> = Object.fromEntries(
  [...page.matchAll(/^```\w+\n(?:#|\/\/) (\S+)\n(.*?)^```$/gms)].map(([, name, text]) => [
    name as string,
    text as string,
  ]),
)
t.test(
  'ci, In CI: the line that starts the server waits for it, and SIGTERM ends the process that it starts',
  async t => {
    const [, block = ''] = /^ {2}```yaml\n(.*?)^ {2}```$/ms.exec(page) ?? []
    const [{ run: line, env }] = parse(block.replace(/^ {2}/gm, ''))
    const folder = t.testdir({ node_modules: { '.bin': {} } })
    linkProgram(join(folder, 'node_modules/.bin/payments-sandbox'))
    // `wait` has the exit code of the server, which is 0 only if it gets the signal.
    const script = `${line}\nkill $!\nwait $!\n`
    const settings = { PORT: String(await freePort()), LOG_LEVEL: 'silent', ...env }
    const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>(done => {
      execFile('bash', ['-euc', script], { cwd: folder, env: { ...environment, ...settings } }, (error, _, stderr) =>
        done({ code: error?.code ?? 0, stderr }),
      )
    })
    t.equal(code, 0, stderr)
  },
)

const PYTHON = process.env.PYTHON ?? '/usr/bin/python3'
const skip =
  (spawnSync(PYTHON, ['-c', 'import xdist']).status !== 0 && 'needs python3-pytest-xdist') ||
  (spawnSync('javac', ['-version']).status !== 0 && 'needs a JDK')

t.test('ci, Without Node: the lines of both jobs, the fixture of pytest and the file in Java', { skip }, async t => {
  const port = await listen(build(t))
  const folder = t.testdir({ bin: { python3: t.fixture('symlink', PYTHON) } })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name.replaceAll('/', '_')), text)
  const env = {
    ...environment,
    PATH: `${join(folder, 'bin')}:${environment.PATH}`,
    SANDBOX_URL: `http://127.0.0.1:${port}`,
  }
  const run = (script: string) =>
    new Promise<{ code: unknown; stdout: string }>(done => {
      execFile('bash', ['-euc', script], { cwd: folder, env, encoding: 'utf8' }, (error, stdout) =>
        done({ code: error?.code ?? 0, stdout }),
      )
    })
  const github = parse(files['.github/workflows/test.yml'] as string).jobs.test.steps
  const lines: string[] = parse(files['.gitlab-ci.yml'] as string).test.script
  t.same(
    github.flatMap(({ run }: { run?: string }) => run ?? []),
    lines,
    'both jobs have the same lines',
  )
  t.equal(lines.length, 2)
  // A test that fails leaves its evidence, and that of the page passes.
  writeFileSync(join(folder, 'test_fails.py'), 'def test_fails(token):\n    assert False\n')
  // It has no client, so no evidence.
  writeFileSync(join(folder, 'test_unit.py'), 'def test_unit():\n    assert 1 == 2\n')
  const [job, java] = await Promise.all([run(lines.join('\n')), run('java Returns.java')])
  t.match(job, { code: 1, stdout: /2 failed, 1 passed/ })
  t.match(java, { code: 0, stdout: 'returned\n' })
  const [evidence = '', ...others] = readdirSync(join(folder, 'evidence'))
  t.same(others, [])
  t.match(evidence, /^ci-gw\d-test_fails\.txt$/)
  t.match(readFileSync(join(folder, 'evidence', evidence), 'utf8'), /^Client ci-gw\d, /)
})
