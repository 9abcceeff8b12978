/** Runs a sandbox with the fake timers of Jest. By default they fake nextTick and queueMicrotask, too. */
import { afterEach, expect, jest, test } from '@jest/globals'
import { closeHalfway, collect, isFaked, open, SETTLED, WAITED, wait } from './journey.js'

/**
 * Keeps the functions real that start and close a server.
 * Fastify 5.12 and avvio 9.3 call `process.nextTick` in `ready()` and `close()`.
 * avvio calls `queueMicrotask` for each plugin.
 * With Jest's defaults, `createSandbox()` and `close()` never resolve.
 */
const OPTIONS = { doNotFake: ['nextTick', 'queueMicrotask'] }

afterEach(() => {
  jest.useRealTimers()
})

test('timers faked before createSandbox', async () => {
  jest.useFakeTimers(OPTIONS)
  const sandbox = await open()
  expect(await collect(sandbox)).toMatchObject(SETTLED)
  await sandbox.close()
  expect(isFaked()).toBe(true)
})

test('timers faked between createSandbox and the first request', async () => {
  const sandbox = await open()
  jest.useFakeTimers(OPTIONS)
  expect(await collect(sandbox)).toMatchObject(SETTLED)
  await sandbox.close()
  expect(isFaked()).toBe(true)
})

test('all functions faked after createSandbox and restored before close', async () => {
  const sandbox = await open()
  jest.useFakeTimers()
  expect(await collect(sandbox)).toMatchObject(SETTLED)
  expect(isFaked()).toBe(true)
  jest.useRealTimers()
  await sandbox.close()
})

test('delay faults, timeouts of events and close with timers faked before createSandbox', async () => {
  jest.useFakeTimers(OPTIONS)
  const sandbox = await open()
  expect(await wait(sandbox)).toEqual(WAITED)
  await closeHalfway(sandbox)
  expect(isFaked()).toBe(true)
})

test('delay faults, timeouts of events and close with timers faked after createSandbox', async () => {
  const sandbox = await open()
  jest.useFakeTimers(OPTIONS)
  expect(await wait(sandbox)).toEqual(WAITED)
  await closeHalfway(sandbox)
  expect(isFaked()).toBe(true)
})

test('a forgotten close does not keep the runner alive', async () => {
  const sandbox = await open()
  expect(typeof (await sandbox.token())).toBe('string')
})
