import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import t from 'tap'
import type { DataFolder, Files, TenantFile } from '../../src/persistence/data-folder.js'
import { DataFolderError, openDataFolder } from '../../src/persistence/data-folder.js'
import { folderNameOf } from '../../src/persistence/tenant-file.js'

interface Options {
  readonly seed?: string
  readonly isSeedGiven?: boolean
  readonly files?: Files
  /** Where what is warned of goes; without it nothing may be. */
  readonly warnings?: string[]
}

/** Opens a folder. One that this process opened before and did not close is as after a crash. */
function open(path: string, { seed = 'seed', isSeedGiven = false, files = fs, warnings }: Options = {}): DataFolder {
  const warn = (message: string) => {
    if (warnings === undefined) throw new Error(`warned: ${message}`)
    warnings.push(message)
  }
  return openDataFolder(path, { seed, isSeedGiven, warn }, files)
}

/** What a server that starts after a crash finds: per client the snapshot and the entries. */
function reload(path: string, options?: Options) {
  const tenants = open(path, options).load()
  return Object.fromEntries(tenants.map(({ clientId, snapshot, entries }) => [clientId, [snapshot, entries]]))
}

/** A folder with one client, of the snapshot "old" and the entries 1 and 2. */
function lived(path: string): string {
  const file = open(path).begin('client', 'old')
  file.append(1)
  file.append(2)
  return path
}

/** That folder in use again, on a disk of its own. */
function revive(path: string, files: Files = fs): { folder: DataFolder; file: TenantFile } {
  const folder = open(path, { files })
  return { folder, file: folder.load()[0]?.file as TenantFile }
}

const tenantOf = (path: string, clientId = 'client') => join(path, 'tenants', folderNameOf(clientId))
const names = (...path: string[]) => fs.readdirSync(join(...path)).sort()
const diskError = (code: string) => Object.assign(new Error(`${code}: so says the test`), { code })

function errorOf(step: () => unknown): Error | undefined {
  try {
    step()
  } catch (error) {
    return error as Error
  }
  return undefined
}

/** The step is refused with one line that names the path. */
function refuses(t: Test, step: () => unknown, path: string, why: RegExp) {
  const error = errorOf(step)
  t.ok(error instanceof DataFolderError, `a DataFolderError, not ${error}`)
  const message = `${error?.message}`
  t.match(message, JSON.stringify(path).slice(0, -1), message)
  t.match(message, why)
  t.notMatch(message, '\n')
}

type Call = keyof Files

const CALLS: readonly Call[] = [
  'closeSync',
  'fdatasyncSync',
  'fsyncSync',
  'ftruncateSync',
  'mkdirSync',
  'openSync',
  'renameSync',
  'rmSync',
  'rmdirSync',
  'writeFileSync',
]

/** A disk whose calls are announced before they are done; what the listener throws is what they fail with. */
function watched(listen: (call: Call, args: readonly unknown[]) => void): Files {
  const wrap = (call: Call) => {
    const real = fs[call] as (...args: unknown[]) => unknown
    return (...args: unknown[]) => {
      try {
        listen(call, args)
      } catch (error) {
        // A descriptor is free even so.
        if (call === 'closeSync') real(...args)
        throw error
      }
      return real(...args)
    }
  }
  return Object.fromEntries(CALLS.map(call => [call, wrap(call)])) as unknown as Files
}

/** A disk that fails while, and as, `fault` says. */
function faulty(): Files & { fault: ((call: Call, args: readonly unknown[]) => boolean) | undefined; code: string } {
  const files = Object.assign(
    watched((call, args) => {
      if (!files.fault?.(call, args)) return
      // A full disk takes some of it.
      if (call === 'writeFileSync') {
        const [target, content] = args as [number, Buffer | string]
        fs.writeFileSync(target, content.slice(0, content.length / 2))
      }
      throw diskError(files.code)
    }),
    { fault: undefined as ((call: Call, args: readonly unknown[]) => boolean) | undefined, code: 'EIO' },
  )
  return files
}

t.test('data folder: it is made, with those above it, and holds what it is and the seed', async t => {
  const path = join(t.testdir(), 'a', 'b')
  const folder = open(path, { seed: 'first' })
  t.equal(folder.seed, 'first')
  t.same(JSON.parse(fs.readFileSync(join(path, 'sandbox.json'), 'utf8')), {
    format: 'payments-sandbox/data',
    version: 1,
    seed: 'first',
  })
  t.same(folder.load(), [])
  t.same(names(path), ['lock', 'sandbox.json', 'tenants'])
})

t.test('data folder: only its owner can read it, whatever the umask', async t => {
  const umask = process.umask(0)
  t.teardown(() => process.umask(umask))
  const path = join(t.testdir(), 'data')
  const file = open(path).begin('client', 'old')
  file.append(1)
  file.compact('new')
  file.append(2)
  const modes = fs
    .readdirSync(path, { recursive: true, encoding: 'utf8' })
    .map(name => fs.statSync(join(path, name)))
    .concat(fs.statSync(path))
    .map(stat => `${stat.isDirectory() ? 'folder' : 'file'} ${(stat.mode & 0o777).toString(8)}`)
  t.same(modes.sort(), ['file 600', 'file 600', 'file 600', 'file 600', 'folder 700', 'folder 700', 'folder 700'])
})

t.test('data folder: the seed of its first use counts, unless another is asked for', async t => {
  const path = t.testdir()
  open(path, { seed: 'first' }).close()
  t.equal(open(path, { seed: 'random' }).seed, 'first')
  t.equal(open(path, { seed: 'first', isSeedGiven: true }).seed, 'first')
  refuses(t, () => open(path, { seed: 'second', isSeedGiven: true }), path, /SANDBOX_SEED/)
  t.equal(open(path, { seed: 'random' }).seed, 'first', 'and it is not overwritten')
})

t.test('data folder: a sandbox.json that is not understood is refused, and left as it is', async t => {
  for (const text of [
    '',
    '{"format":\n\n?}',
    'null',
    '[]',
    '1',
    '{"format":"payments-sandbox/tenant","version":1,"seed":"s"}',
    '{"format":"payments-sandbox/data","version":2,"seed":"s"}',
    '{"format":"payments-sandbox/data","version":"1","seed":"s"}',
    '{"format":"payments-sandbox/data","version":1}',
    '{"format":"payments-sandbox/data","version":1,"seed":1}',
  ]) {
    const path = t.testdir({ 'sandbox.json': text })
    refuses(t, () => open(path), join(path, 'sandbox.json'), /sandbox\.json/)
    t.equal(fs.readFileSync(join(path, 'sandbox.json'), 'utf8'), text)
    t.same(names(path), ['sandbox.json'], 'and it is not locked')
  }
})

t.test('data folder: tenants whose seed is gone are not given another', async t => {
  const path = lived(t.testdir())
  fs.rmSync(join(path, 'sandbox.json'))
  refuses(t, () => open(path), join(path, 'sandbox.json'), /missing/)
  t.same(names(path), ['tenants'])
})

t.test('data folder: a crash in its first use leaves one that can be used', async t => {
  let last = 0
  for (let step = 1; step === last + 1; step += 1) {
    const path = join(t.testdir(), 'data')
    const files = faulty()
    let count = 0
    files.fault = () => {
      count += 1
      if (count < step) return false
      last = step
      return true
    }
    const error = errorOf(() => open(path, { seed: 'first', files }))
    t.ok(error === undefined || error instanceof DataFolderError, `step ${step}`)
    t.match(open(path, { seed: 'second' }).seed, error === undefined ? 'first' : /^(first|second)$/)
    t.same(reload(path), {})
  }
  t.ok(last > 10, `${last} steps`)
})

t.test('data folder: a path that cannot be used', async t => {
  const path = t.testdir({ file: 'text', 'two\nlines': 'text', taken: { tenants: 'text' } })
  refuses(t, () => open(join(path, 'file')), join(path, 'file'), /EEXIST/)
  refuses(t, () => open(join(path, 'file', 'below')), join(path, 'file', 'below'), /ENOTDIR/)
  refuses(t, () => open(join(path, 'two\nlines')), join(path, 'two\nlines'), /EEXIST/)
  refuses(t, () => open(join(path, 'taken')), join(path, 'taken'), /missing/)
  for (const [call, code] of [
    ['mkdirSync', 'EACCES'],
    ['writeFileSync', 'EROFS'],
    ['openSync', 'ENOSPC'],
  ] as const) {
    const files = Object.assign(faulty(), { fault: (name: Call) => name === call, code })
    refuses(t, () => open(join(path, call), { files }), join(path, call), new RegExp(code))
  }
})

t.test('data folder: a folder that knows no sync, as on Windows, is used without', async t => {
  for (const code of ['EPERM', 'EINVAL']) {
    const folders = new Set<unknown>()
    const files = {
      ...fs,
      openSync(path: string, flags: string, mode: number) {
        const descriptor = fs.openSync(path, flags, mode)
        if (flags === 'r') folders.add(descriptor)
        else folders.delete(descriptor)
        return descriptor
      },
      fsyncSync(descriptor: number) {
        if (folders.has(descriptor)) throw diskError(code)
        fs.fsyncSync(descriptor)
      },
    } as Files
    const path = t.testdir()
    const file = open(path, { files }).begin('client', 'old')
    file.append(1)
    t.same(reload(path), { client: ['old', [1]] })
    file.remove()
    t.same(reload(path), {})
  }
})

t.test('data folder, lock: the folder of a living process is refused', async t => {
  const path = lived(t.testdir())
  const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { stdio: 'ignore' })
  const ended = once(other, 'exit')
  try {
    fs.writeFileSync(join(path, 'lock'), `${other.pid}\n`)
    refuses(t, () => open(path), path, new RegExp(`process ${other.pid}\\b`))
    t.equal(fs.readFileSync(join(path, 'lock'), 'utf8'), `${other.pid}\n`, 'and its lock stays')
  } finally {
    other.kill('SIGKILL')
    await ended
  }
  t.same(reload(path), { client: ['old', [1, 2]] }, 'until it has ended')
  t.equal(fs.readFileSync(join(path, 'lock'), 'utf8'), `${process.pid}\n`)
  t.same(names(path), ['lock', 'sandbox.json', 'tenants'])
})

t.test('data folder, lock: a process of another user is a living one', async t => {
  const path = t.testdir({ lock: '4242\n' })
  const asked: unknown[] = []
  t.intercept(process, 'kill', {
    value: (...args: unknown[]) => {
      asked.push(args)
      throw diskError('EPERM')
    },
  })
  refuses(t, () => open(path), path, /process 4242\b/)
  t.same(asked, [[4242, 0]], 'and nothing is done to it')
})

t.test('data folder, lock: one that names no process, or this one, is stale', async t => {
  // One of a living process that was not finished is none of it.
  const torn = `${process.ppid}`
  for (const lock of [
    '',
    '\n',
    '0\n',
    '-1\n',
    'x\n',
    '12x\n',
    '99999999999\n',
    torn,
    `${process.pid}`,
    `${process.pid}\n`,
  ]) {
    const path = t.testdir({ lock })
    open(path)
    t.equal(fs.readFileSync(join(path, 'lock'), 'utf8'), `${process.pid}\n`, JSON.stringify(lock))
    t.same(names(path), ['lock', 'sandbox.json', 'tenants'])
  }
})

t.test('data folder, lock: of two processes that take over a stale lock one gets it', async t => {
  const stale = { lock: '0' }
  const held = (path: string) => fs.readFileSync(join(path, 'lock'), 'utf8')

  const first = t.testdir(stale)
  const beforeDropping = watched((call, [from]) => {
    if (call === 'renameSync' && from === join(first, 'lock')) fs.writeFileSync(join(first, 'lock'), '4242\n')
  })
  refuses(t, () => open(first, { files: beforeDropping }), first, /process 4242\b/)
  t.equal(held(first), '4242\n', 'the other has created its own before this one drops the stale one')
  t.same(names(first), ['lock'])

  for (const [written, named] of [
    ['4242\n', /process 4242\b/],
    ['', /another process/],
  ] as const) {
    const second = t.testdir(stale)
    const beforeCreating = watched((call, [path]) => {
      if (call === 'rmSync' && path === join(second, `lock.${process.pid}`))
        fs.writeFileSync(join(second, 'lock'), written)
    })
    refuses(t, () => open(second, { files: beforeCreating }), second, named)
    t.equal(held(second), written, 'the other has created its own before this one does')
  }

  const third = t.testdir()
  const files: Files = {
    ...fs,
    writeFileSync: (target, bytes, options) => {
      fs.writeFileSync(target, bytes, options)
      if (target === join(third, 'lock')) fs.writeFileSync(target, '4242\n')
    },
  }
  refuses(t, () => open(third, { files }), third, /process 4242\b/)
  t.equal(held(third), '4242\n', 'the other took it for stale while it was still empty')
})

t.test('data folder, lock: it is released by closing, and that of another process is not touched', async t => {
  const path = t.testdir()
  const folder = open(path)
  folder.close()
  t.same(names(path), ['sandbox.json', 'tenants'])
  folder.close()
  fs.writeFileSync(join(path, 'lock'), '4242\n')
  folder.close()
  t.equal(fs.readFileSync(join(path, 'lock'), 'utf8'), '4242\n')
})

t.test('tenant file: snapshot and entries are found as they were given', async t => {
  const path = t.testdir()
  const folder = open(path)
  t.same(folder.load(), [])
  const snapshot = { text: 'ü\n\r\u2028\u0000\ud800"', list: [1.5, null, true, {}] }
  const entries = [{ a: 1 }, null, 'two\nlines', [], 0, false, '', { long: 'ß'.repeat(100_000) }]
  const file = folder.begin('client', snapshot)
  folder.begin('empty', null)
  for (const entry of entries) file.append(entry)
  t.same(reload(path), { client: [snapshot, entries], empty: [null, []] })
  t.same(reload(path), { client: [snapshot, entries], empty: [null, []] }, 'and again')
})

t.test('tenant file: a tenant that was read goes on', async t => {
  const path = lived(t.testdir())
  revive(path).file.append(3)
  t.same(reload(path), { client: ['old', [1, 2, 3]] })
  const { file } = revive(path)
  file.compact('new')
  file.append(4)
  t.same(reload(path), { client: ['new', [4]] })
})

t.test('tenant file: any text is a client id, and none is taken for another', async t => {
  const path = t.testdir()
  const folder = open(path)
  const ids = ['a', 'A', 'a/b', 'a\\b', '../../a', '.', '..', 'CON', ' ', '\n', '\0', 'x'.repeat(300), 'y'.repeat(300)]
  ids.push('ü', 'u\u0308', '\ud800', '\ud801', '\ufffd', '😀', '__proto__', 'a.removed', 'a.corrupt-1', '')
  for (const id of ids) folder.begin(id, `of ${id}`).append(id)
  const tenants = open(path).load()
  t.same(
    tenants.map(({ clientId, snapshot, entries }) => [clientId, snapshot, entries]).sort(),
    ids.map(id => [id, `of ${id}`, [id]]).sort(),
  )
  t.same(names(path), ['lock', 'sandbox.json', 'tenants'])
  for (const name of names(path, 'tenants')) t.match(name, /^[0-9a-f]{32}$/)
})

t.test('tenant file: an entry is on the disk before append returns', async t => {
  const path = lived(t.testdir())
  const calls: string[] = []
  const { file } = revive(
    path,
    watched(call => calls.push(call)),
  )
  calls.length = 0
  file.append(3)
  t.same(calls, ['openSync', 'writeFileSync', 'fdatasyncSync', 'closeSync'])
})

t.test('tenant file: a snapshot is on the disk before it counts, and counts before the old one is deleted', async t => {
  const path = lived(t.testdir())
  const calls: string[] = []
  const { file } = revive(
    path,
    watched((call, [first]) => {
      if (typeof first === 'string') calls.push(`${call} ${first.replace(`${tenantOf(path)}/`, '')}`)
      else if (call === 'fsyncSync') calls.push(call)
    }),
  )
  calls.length = 0
  file.compact('new')
  const folder = [`openSync ${tenantOf(path)}`, 'fsyncSync']
  t.same(calls, [
    'openSync 2.log',
    'fsyncSync',
    'openSync 2.snapshot.tmp',
    'fsyncSync',
    ...folder,
    'renameSync 2.snapshot.tmp',
    ...folder,
    'rmSync 1.snapshot',
    'rmSync 1.log',
  ])
  t.same(names(tenantOf(path)), ['2.log', '2.snapshot'])
})

t.test('tenant file: it is long from more than 1 MiB, and more than twice the snapshot', async t => {
  /** A line of so many bytes: 16 digits, a space, two quotes and the end of the line. */
  const entryOf = (size: number) => 'x'.repeat(size - 20)
  const MEBIBYTE = 1_048_576
  const path = t.testdir()
  const file = open(path).begin('client', 'old')
  t.notOk(file.isLong)
  file.append(entryOf(MEBIBYTE))
  t.notOk(file.isLong)
  t.notOk(open(path).load()[0]?.file.isLong)
  file.append(entryOf(20))
  t.ok(file.isLong)
  t.ok(open(path).load()[0]?.file.isLong, 'also when it is read again')

  file.compact('s'.repeat(MEBIBYTE))
  t.notOk(file.isLong)
  const snapshotSize = fs.statSync(join(tenantOf(path), '2.snapshot')).size
  file.append(entryOf(2 * snapshotSize))
  t.notOk(file.isLong)
  t.notOk(open(path).load()[0]?.file.isLong)
  file.append(entryOf(20))
  t.ok(file.isLong)
  t.ok(open(path).load()[0]?.file.isLong)

  open(path).begin('client', 'new')
  t.notOk(open(path).load()[0]?.file.isLong)
})

t.test('tenant file: a client begins again over its earlier life, with the same object', async t => {
  const path = t.testdir()
  const folder = open(path)
  const file = folder.begin('client', 'old')
  file.append(1)
  t.equal(folder.begin('client', 'new'), file)
  t.same(reload(path), { client: ['new', []] })
  file.append(2)
  t.same(reload(path), { client: ['new', [2]] })

  const again = open(path)
  const loaded = again.load()[0]?.file
  t.equal(again.begin('client', 'newest'), loaded)
  t.same(reload(path), { client: ['newest', []] })
})

t.test('tenant file: one that is removed is gone, and takes nothing more', async t => {
  const path = lived(t.testdir())
  const { folder, file } = revive(path)
  const other = folder.begin('other', 'of another')
  file.remove()
  t.same(names(path, 'tenants'), [folderNameOf('other')])
  t.throws(() => file.append(3), /removed/)
  t.throws(() => file.compact('new'), /removed/)
  t.same(reload(path), { other: ['of another', []] })

  const next = folder.begin('client', 'next')
  t.not(next, file)
  next.append(4)
  file.remove()
  t.throws(() => file.append(3), /removed/, 'nor does it touch the next life')
  other.append(5)
  t.same(reload(path), { client: ['next', [4]], other: ['of another', [5]] })
})

t.test('crash: an entry that is torn at any byte is dropped, and the next one follows the last whole one', async t => {
  const path = t.testdir()
  const log = join(tenantOf(path), '1.log')
  const file = open(path).begin('client', 'old')
  file.append({ first: 1 })
  const whole = fs.statSync(log).size
  file.append({ text: 'ü😀' })
  const bytes = fs.readFileSync(log)
  const found = []
  for (let size = whole; size < bytes.length; size += 1) {
    fs.writeFileSync(log, bytes.subarray(0, size))
    const [tenant] = open(path).load()
    const cut = fs.statSync(log).size
    tenant?.file.append(3)
    found.push([tenant?.entries, cut, reload(path)])
  }
  t.same(found, Array(bytes.length - whole).fill([[{ first: 1 }], whole, { client: ['old', [{ first: 1 }, 3]] }]))
})

t.test('crash: a last entry with any byte wrong is dropped', async t => {
  const path = t.testdir()
  const log = join(tenantOf(path), '1.log')
  const file = open(path).begin('client', 'old')
  file.append({ first: 1 })
  const whole = fs.statSync(log).size
  file.append({ text: 'ü' })
  const bytes = fs.readFileSync(log)
  const kept = Buffer.from(bytes.subarray(0, whole))
  const tails = ['\n', '\0'.repeat(4096), `${'0'.repeat(16)} {}\n`, `${'0'.repeat(5000)}\n`].map(text =>
    Buffer.from(text),
  )
  for (let at = whole; at < bytes.length; at += 1) {
    const wrong = Buffer.from(bytes)
    wrong[at] = (bytes[at] as number) ^ 1
    tails.push(wrong.subarray(whole))
  }
  const found = tails.map(tail => {
    fs.writeFileSync(log, Buffer.concat([kept, tail]))
    return [reload(path), fs.statSync(log).size]
  })
  t.same(found, Array(tails.length).fill([{ client: ['old', [{ first: 1 }]] }, whole]))
})

/** The operations on the tenant of `lived`, each with the result; undefined if the tenant is gone. */
const OPERATIONS: readonly [
  name: string,
  run: (folder: DataFolder, file: TenantFile) => void,
  after: readonly unknown[] | undefined,
][] = [
  ['append', (_, file) => file.append(3), ['old', [1, 2, 3]]],
  ['compact', (_, file) => file.compact('new'), ['new', []]],
  ['begin', folder => folder.begin('client', 'new'), ['new', []]],
  ['remove', (_, file) => file.remove(), undefined],
]

const BEFORE = ['old', [1, 2]]

for (const [name, run, after] of OPERATIONS) {
  t.test(`crash: at any step of ${name} the old state is there whole or the new one, and nothing else`, async t => {
    let steps = 0
    for (let isDone = false; !isDone; steps += 1) {
      const path = lived(t.testdir())
      const files = faulty()
      const { folder, file } = revive(path, files)
      let count = 0
      files.fault = () => ++count > steps
      const isRefused = errorOf(() => run(folder, file)) !== undefined
      isDone = count <= steps

      const { client } = reload(path)
      const isAfter = JSON.stringify(client) === JSON.stringify(after)
      t.same(client, isAfter ? after : BEFORE, `${steps} steps, ${isAfter ? 'new' : 'old'}`)
      t.ok(isRefused || isAfter, 'what was not refused is there')
      if (client === undefined) t.same(names(path, 'tenants'), [])
      else t.match(names(tenantOf(path)).join(), /^(\d+)\.log,\1\.snapshot$/)
    }
    t.ok(steps > 4, `${steps} steps`)
  })

  t.test(`failure: if one step of ${name} fails and it throws, the old state counts and goes on`, async t => {
    let steps = 0
    for (let isDone = false; !isDone; steps += 1) {
      const path = lived(t.testdir())
      const files = faulty()
      const { folder, file } = revive(path, files)
      let count = 0
      files.fault = () => count++ === steps
      const error = errorOf(() => run(folder, file))
      isDone = count <= steps
      files.fault = undefined

      const isGone = errorOf(() => file.append('next')) !== undefined
      const [snapshot, entries] = ((error === undefined ? after : BEFORE) as [unknown, unknown[]] | undefined) ?? []
      const { client } = reload(path)
      if (isGone) t.same(client, undefined, `${steps} steps, gone`)
      else t.same(client, [snapshot, [...(entries ?? []), 'next']], `${steps} steps, ${error === undefined}`)
      t.equal(isGone && name !== 'remove', false, 'only one that is to be removed may be gone although it throws')
    }
    t.ok(steps > 4, `${steps} steps`)
  })
}

t.test('crash: at any step of the first begin the tenant is there whole or not at all', async t => {
  let steps = 0
  for (let isDone = false; !isDone; steps += 1) {
    const path = t.testdir()
    const files = faulty()
    const folder = open(path, { files })
    let count = 0
    files.fault = () => ++count > steps
    const isRefused = errorOf(() => folder.begin('client', 'new').append(1)) !== undefined
    isDone = count <= steps

    const { client } = reload(path)
    if (!isRefused) t.same(client, ['new', [1]])
    else if (client === undefined) t.same(names(path, 'tenants'), [], `${steps} steps, not at all`)
    else t.same(client[0], 'new', `${steps} steps, there`)
  }
  t.ok(steps > 10, `${steps} steps`)
})

t.test('failure: a first begin that fails leaves nothing, and can be tried again', async t => {
  let steps = 0
  for (let isDone = false; !isDone; steps += 1) {
    const path = t.testdir()
    const files = faulty()
    const folder = open(path, { files })
    let count = 0
    files.fault = () => count++ === steps
    const isRefused = errorOf(() => folder.begin('client', 'new')) !== undefined
    isDone = count <= steps
    files.fault = undefined
    t.same(reload(path), isRefused ? {} : { client: ['new', []] }, `${steps} steps`)
    t.same(names(path, 'tenants'), isRefused ? [] : [folderNameOf('client')])
    folder.begin('client', 'newer').append(1)
    t.same(reload(path), { client: ['newer', [1]] })
  }
  t.ok(steps > 10, `${steps} steps`)
})

t.test('crash: of every combination of files that a generation change leaves, the newest whole one counts', async t => {
  const path = lived(t.testdir())
  const older = new Map(names(tenantOf(path)).map(name => [name, fs.readFileSync(join(tenantOf(path), name))]))
  revive(path).file.compact('new')
  const newer = new Map(names(tenantOf(path)).map(name => [name, fs.readFileSync(join(tenantOf(path), name))]))
  const snapshot = newer.get('2.snapshot') as Buffer
  const halves: [string, Buffer][] = [0, 1, snapshot.length / 2, snapshot.length].map(size => [
    '2.snapshot.tmp',
    snapshot.subarray(0, size),
  ])
  const log: [string, Buffer] = ['2.log', Buffer.alloc(0)]

  const before = [[], [log], ...halves.flatMap(half => [[half], [half, log]])]
  for (const begun of before) {
    t.same(left(t, [...older, ...begun]), { client: BEFORE }, `old, and ${begun.map(([name]) => name)}`)
    t.same(left(t, begun), {}, `nothing, and ${begun.map(([name]) => name)}`)
  }
  const [oldLog, oldSnapshot] = [...older] as [[string, Buffer], [string, Buffer]]
  for (const rest of [[], [oldLog], [oldSnapshot], [oldLog, oldSnapshot]])
    for (const begun of [[], ...halves.map(half => [half]), [['3.log', Buffer.alloc(0)]]] as [string, Buffer][][])
      t.same(left(t, [...newer, ...rest, ...begun]), { client: ['new', []] }, `new, and ${[...rest, ...begun]}`)

  /** The tenant that is found in such files; all others are deleted. */
  function left(t: Test, files: readonly [string, Buffer][]) {
    const path = t.testdir()
    open(path)
    fs.mkdirSync(tenantOf(path))
    for (const [name, bytes] of files) fs.writeFileSync(join(tenantOf(path), name), bytes)
    const found = reload(path)
    if (found.client === undefined) t.same(names(path, 'tenants'), [])
    else t.match(names(tenantOf(path)).join(), /^(\d)\.log,\1\.snapshot$/)
    return found
  }
})

t.test('failure: on a full disk an entry is refused, and nothing of it is left', async t => {
  for (const failing of ['openSync', 'writeFileSync', 'fdatasyncSync'] as const) {
    const path = lived(t.testdir())
    const size = fs.statSync(join(tenantOf(path), '1.log')).size
    const files = Object.assign(faulty(), { code: 'ENOSPC' })
    const { file } = revive(path, files)
    files.fault = call => call === failing
    t.throws(() => file.append('refused'), { code: 'ENOSPC' }, failing)
    t.equal(fs.statSync(join(tenantOf(path), '1.log')).size, size)
    t.throws(() => file.append('refused'), { code: 'ENOSPC' }, 'again')
    files.fault = undefined
    file.append(3)
    t.same(reload(path), { client: ['old', [1, 2, 3]] })
  }
})

t.test('failure: a log that cannot be cut back takes nothing until there is a new snapshot', async t => {
  for (const failing of ['ftruncateSync', 'fsyncSync'] as const) {
    for (const mend of ['compact', 'begin'] as const) {
      const path = lived(t.testdir())
      const files = faulty()
      const { folder, file } = revive(path, files)
      files.fault = call => call === 'writeFileSync' || call === failing
      t.throws(() => file.append('refused'), { code: 'EIO' })
      files.fault = undefined
      t.throws(() => file.append('refused'), /broken/)
      t.same(reload(path), { client: BEFORE }, 'though after a crash it would')

      files.fault = call => call === 'renameSync'
      t.throws(() => file.compact('refused'), { code: 'EIO' })
      t.throws(() => file.append('refused'), /broken/, 'a snapshot that fails is none')
      files.fault = undefined
      if (mend === 'compact') file.compact('new')
      else folder.begin('client', 'new')
      file.append(3)
      t.same(reload(path), { client: ['new', [3]] })
    }
  }
})

t.test('failure: a snapshot that can neither be finished nor taken back loses no entry', async t => {
  const path = lived(t.testdir())
  const files = faulty()
  const { file } = revive(path, files)
  let isRenamed = false
  files.fault = call => {
    const fails = isRenamed
    isRenamed ||= call === 'renameSync'
    return fails
  }
  t.throws(() => file.compact('new'), { code: 'EIO' })
  files.fault = undefined
  t.throws(() => file.append(3), /broken/, 'since either of the two could be found')
  file.compact('newer')
  file.append(3)
  t.same(reload(path), { client: ['newer', [3]] })
})

/** Changes the files of one of two tenants: that one is set aside whole. */
function damaged(t: Test, damage: (tenant: string) => void, file: string, what: RegExp, count = 1) {
  const path = lived(t.testdir())
  open(path).begin('other', 'of another').append(1)
  spoil(t, path, damage, file, what, count)
  return path
}

function spoil(t: Test, path: string, damage: (tenant: string) => void, file: string, what: RegExp, count = 1) {
  damage(tenantOf(path))
  const content = contentOf(tenantOf(path))
  const warnings: string[] = []
  t.same(reload(path, { warnings }), { other: ['of another', [1]] })
  t.equal(warnings.length, 1)
  const [warning = ''] = warnings
  t.match(warning, JSON.stringify(join(tenantOf(path), file)), warning)
  t.match(warning, what)
  t.notMatch(warning, '\n')
  const aside = `${tenantOf(path)}.corrupt-${count}`
  t.match(warning, JSON.stringify(aside))
  t.same(contentOf(aside), content, 'nothing of it is lost')
  t.notOk(fs.existsSync(tenantOf(path)))
  t.same(reload(path), { other: ['of another', [1]] }, 'and it is not found again')
}

const contentOf = (folder: string) => names(folder).map(name => [name, fs.readFileSync(join(folder, name), 'latin1')])

/** Changes the text of a file. */
const rewrite = (name: string, change: (text: string) => string) => (tenant: string) =>
  fs.writeFileSync(join(tenant, name), change(fs.readFileSync(join(tenant, name), 'utf8')))

t.test('corruption: a snapshot that is not as it was written is set aside with all of its tenant', async t => {
  for (const [change, what] of [
    [() => '', /no snapshot/],
    [() => '{}', /no snapshot/],
    [() => 'null\n', /no snapshot/],
    [() => '1\n1\n', /no snapshot/],
    [(text: string) => text.replace('payments-sandbox/tenant', 'payments-sandbox/data'), /no snapshot/],
    [(text: string) => text.replace('"version":1', '"version":2'), /version 2,/],
    [(text: string) => text.replace('"version":1', '"version":"\\n"'), /version "\\n",/],
    [(text: string) => text.replace('"version":1', '"revision":1'), /version undefined,/],
    [(text: string) => text.replace('"clientId":"client"', '"clientId":"other"'), /another client/],
    [(text: string) => text.replace('"clientId":"client"', '"clientId":1'), /another client/],
    [(text: string) => text.replace('old', 'new'), /checksum/],
    [(text: string) => text.slice(0, -1), /checksum/],
    [(text: string) => `${text}\n`, /checksum/],
    [(text: string) => text.replace('sha256', 'sha1'), /checksum/],
  ] as const)
    damaged(t, rewrite('1.snapshot', change), '1.snapshot', what)
})

t.test('corruption: a snapshot with any byte wrong is recognised', async t => {
  const path = lived(t.testdir())
  const snapshot = join(tenantOf(path), '1.snapshot')
  const bytes = fs.readFileSync(snapshot)
  const found = []
  for (let at = 0; at < bytes.length; at += 1) {
    const wrong = Buffer.from(bytes)
    wrong[at] = (bytes[at] as number) ^ 1
    fs.writeFileSync(snapshot, wrong)
    const warnings: string[] = []
    found.push([reload(path, { warnings }), warnings.length])
    fs.renameSync(`${tenantOf(path)}.corrupt-1`, tenantOf(path))
  }
  t.same(found, Array(bytes.length).fill([{}, 1]))
})

t.test('corruption: a wrong line that others follow', async t => {
  for (const [change, line] of [
    [(text: string) => text.replace(' 1\n', ' 3\n'), 1],
    [(text: string) => `x${text}`, 1],
    [(text: string) => `\n${text}`, 1],
    [(text: string) => text.replace('\n', '\n\n'), 2],
    [(text: string) => `${text}wrong\nhalf`, 3],
    [(text: string) => `${text}wrong\nwrong\n`, 3],
  ] as const)
    damaged(t, rewrite('1.log', change), '1.log', new RegExp(`line ${line};`))
})

t.test('corruption: a file that is missing', async t => {
  damaged(t, tenant => fs.rmSync(join(tenant, '1.log')), '1.log', /missing/)
  damaged(t, tenant => fs.rmSync(join(tenant, '1.snapshot')), '1.snapshot', /missing/)
  damaged(t, tenant => fs.renameSync(join(tenant, '1.log'), join(tenant, '2.log')), '2.snapshot', /missing/)
})

t.test('corruption: no older generation stands in for a damaged one; it is set aside, too', async t => {
  const path = damaged(
    t,
    tenant => {
      fs.cpSync(join(tenant, '1.snapshot'), join(tenant, '2.snapshot'))
      fs.writeFileSync(join(tenant, '2.log'), 'wrong\nwrong\n')
      fs.writeFileSync(join(tenant, '3.snapshot.tmp'), 'half')
    },
    '2.log',
    /line 1;/,
  )
  t.same(names(`${tenantOf(path)}.corrupt-1`), ['1.log', '1.snapshot', '2.log', '2.snapshot', '3.snapshot.tmp'])
})

t.test(
  'corruption: a client begins again beside a folder that was set aside, which stays when it happens again',
  async t => {
    const empty = rewrite('1.snapshot', () => '')
    const path = damaged(t, empty, '1.snapshot', /no snapshot/)
    const first = contentOf(`${tenantOf(path)}.corrupt-1`)
    open(path).begin('client', 'second life').append(1)
    spoil(t, path, empty, '1.snapshot', /no snapshot/, 2)
    open(path).begin('client', 'third life')
    t.match(reload(path), { client: ['third life', []] })
    t.same(contentOf(`${tenantOf(path)}.corrupt-1`), first)
    spoil(t, path, empty, '1.snapshot', /no snapshot/, 3)
  },
)

t.test(
  'failure: a tenant that cannot be read or set aside is not corrupt: the folder is refused, and stays as it is',
  async t => {
    const path = lived(t.testdir())
    const content = contentOf(tenantOf(path))
    fs.renameSync(join(tenantOf(path), '1.snapshot'), join(path, 'kept'))
    fs.mkdirSync(join(tenantOf(path), '1.snapshot'))
    refuses(t, () => open(path).load(), tenantOf(path), /EISDIR/)
    fs.rmdirSync(join(tenantOf(path), '1.snapshot'))
    fs.renameSync(join(path, 'kept'), join(tenantOf(path), '1.snapshot'))

    fs.appendFileSync(join(tenantOf(path), '1.log'), 'torn')
    const readOnly = Object.assign(faulty(), { code: 'EROFS' })
    const folder = open(path, { files: readOnly })
    readOnly.fault = () => true
    refuses(t, () => folder.load(), tenantOf(path), /EROFS/)
    rewrite('1.log', text => `x${text}`)(tenantOf(path))
    refuses(t, () => folder.load(), tenantOf(path), /EROFS/)
    rewrite('1.log', text => text.slice(1, -4))(tenantOf(path))
    t.same(contentOf(tenantOf(path)), content)
  },
)
