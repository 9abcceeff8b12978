import { Writable } from 'node:stream'
import t from 'tap'
import { createJsonLog } from '../../src/log.js'
import type { Line } from './log.js'

/** An output whose reader can stop. */
class Output extends Writable {
  text = ''
  #resume: (() => void) | undefined
  #isStopped = false

  override _write(chunk: Buffer, _encoding: string, done: () => void) {
    this.text += chunk
    if (this.#isStopped) this.#resume = done
    else done()
  }

  stop() {
    this.#isStopped = true
  }

  resume() {
    this.#isStopped = false
    this.#resume?.()
  }

  get lines(): Line[] {
    return this.text
      .split('\n')
      .filter(line => line !== '')
      .map(line => JSON.parse(line))
  }
}

const fail = (message: string) => {
  throw new Error(message)
}

t.test('settings, LOG_LEVEL: each line is written at once while the reader reads', async t => {
  const output = new Output()
  const { logger, flush } = createJsonLog('info', output)
  for (let n = 0; n < 10; n++) logger.info({ n }, 'hello')
  logger.debug('below the level')
  t.match(
    output.lines,
    Array.from({ length: 10 }, (_, n) => ({ n, msg: 'hello' })),
  )
  await flush(fail)
})

t.test('settings, LOG_LEVEL: lines for a stopped reader are bounded; dropped ones are counted', async t => {
  const output = new Output()
  const { logger, flush } = createJsonLog('info', output, 100_000)
  output.stop()
  for (let n = 0; n < 5000; n++) logger.info({ n }, 'hello')
  t.ok(output.writableLength > 99_000 && output.writableLength <= 100_000, `${output.writableLength} bytes wait`)
  output.resume()
  await flush(fail)
  const written = output.lines.filter(({ msg }) => msg === 'hello')
  const found = written.map(({ n }) => n)
  t.match(
    found,
    written.map((_, n) => n),
    'the first lines, in order',
  )
  t.match(output.lines.at(-1), { level: 40, msg: /dropped/, dropped: 5000 - written.length })

  output.stop()
  for (let n = 0; n < 500; n++) logger.info('later')
  output.resume()
  await flush(fail)
  t.equal(output.lines.filter(({ msg }) => msg === 'later').length, 500)
  t.equal(output.lines.filter(({ msg }) => /dropped/.test(msg)).length, 1, 'reported once')
})

t.test('settings, LOG_LEVEL: a flush waits for a slow reader', async t => {
  const output = new Output()
  const { logger, flush } = createJsonLog('info', output)
  output.stop()
  logger.info('first')
  logger.info('last')
  const flushed = flush(fail)
  t.notMatch(output.text, 'last')
  const timers = () => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length
  const before = timers()
  output.resume()
  await flushed
  t.match(output.text, 'last')
  t.equal(timers(), before - 1, 'its timer is cleared')
})

t.test('settings, LOG_LEVEL: a line that cannot be written does no harm', async t => {
  const output = new Writable({ write: (_chunk, _encoding, done) => done(new Error('no space')) })
  const { logger, flush } = createJsonLog('info', output)
  logger.fatal('first')
  await flush(() => {})
  t.doesNotThrow(() => logger.info('second'))
})
