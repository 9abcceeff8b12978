import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { PLAIN, program } from '../program.js'

/** What a clone does not have, and the folders of packages that neither command reads: others write there meanwhile. */
const LEFT_OUT = /(^|\/)(node_modules|dist|build|\.git|\.tap)$|^(bench|compat)$|\.tgz$/

/**
 * Copies the project as a clone has it, and each text with CRLF, as Git can check it out on Windows. It shares the packages
 * that npm ci has installed.
 */
function cloneWithCrlf(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-clone-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  cpSync('.', folder, { recursive: true, filter: path => !LEFT_OUT.test(relative('.', path)) })
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const content = readFileSync(path)
    // As Git knows a file that is no text.
    if (!content.includes(0)) writeFileSync(path, content.toString().replaceAll(/\r?\n/g, '\r\n'))
  }
  // A link for each: nothing that happens to this folder concerns that of the project.
  mkdirSync(join(folder, 'node_modules'))
  for (const name of readdirSync('node_modules'))
    symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name))
  return folder
}

/** Returns the command of the README that ends with an npm script. */
function commandFor(t: Test, script: string): string {
  const [command = ''] = new RegExp(`^npm ci && npm ${script}$`, 'm').exec(readFileSync('README.md', 'utf8')) ?? []
  t.not(command, '', `the README has the command for npm ${script}`)
  return command
}

t.test('README, Start: its two commands work on a fresh machine, also where the texts have CRLF', async t => {
  const cwd = cloneWithCrlf()
  const [command, ...options] = PLAIN
  const npm = { npm_config_prefer_offline: 'true', npm_config_audit: 'false', npm_config_dry_run: 'true' }
  const env = { ...program.environment, ...npm, PORT: '0' }
  /** Runs a line of the README in a group of processes of its own. The packages are there. */
  const begin = (line: string) => spawn(command, [...options, 'bash', '-c', line], { cwd, env, detached: true })

  const started = begin(commandFor(t, 'start'))
  let output = ''
  const closed = new Promise(resolve => started.once('close', resolve))
  const url = await new Promise<string | undefined>(resolve => {
    const look = (data: Buffer) => {
      output += data
      const [, found] = /"url":"([^"]+)".*is ready/.exec(output) ?? []
      if (found !== undefined) resolve(found)
    }
    started.stdout.on('data', look)
    started.stderr.on('data', look)
    closed.then(() => resolve(undefined))
  })
  t.match(url, /^http:/, output)
  t.equal((await fetch(`${url}/_sandbox/health/ready`)).status, 200)
  t.match(await (await fetch(`${url}/docs/guide`)).text(), '<h2 id="begin">')
  process.kill(-(started.pid as number), 'SIGTERM')
  await closed
  // The name of a style sheet has a hash of its source map, which keeps the ends of lines.
  const guide = (folder: string) =>
    readFileSync(join(folder, 'dist/assets/guide.json'), 'utf8').replaceAll(/style-\w+\.css/g, 'style.css')
  t.equal(guide(cwd), guide('.'), 'the guide is the same')

  // All other tests run here.
  const tests = begin(`${commandFor(t, 'test')} -- test/core/money.test.ts`)
  let report = ''
  for (const stream of [tests.stdout, tests.stderr]) stream.on('data', data => (report += data))
  t.equal(await new Promise(resolve => tests.once('close', resolve)), 0, report.slice(-2000))
  t.match(report, /# \{ total: \d+, pass: \d+ \}/)
})
