/** Runs a sandbox with the default fake timers of Vitest. They leave nextTick and queueMicrotask real. */
import { afterEach, expect, test, vi } from 'vitest'
import { closeHalfway, collect, isFaked, open, SETTLED, WAITED, wait } from './journey.js'

afterEach(() => {
  vi.useRealTimers()
})

test('timers faked before createSandbox', async () => {
  vi.useFakeTimers()
  const sandbox = await open()
  expect(await collect(sandbox)).toMatchObject(SETTLED)
  await sandbox.close()
  expect(isFaked()).toBe(true)
})

test('timers faked between createSandbox and the first request', async () => {
  const sandbox = await open()
  vi.useFakeTimers()
  expect(await collect(sandbox)).toMatchObject(SETTLED)
  await sandbox.close()
  expect(isFaked()).toBe(true)
})

test('delay faults, timeouts of events and close with timers faked before createSandbox', async () => {
  vi.useFakeTimers()
  const sandbox = await open()
  expect(await wait(sandbox)).toEqual(WAITED)
  await closeHalfway(sandbox)
  expect(isFaked()).toBe(true)
})

test('delay faults, timeouts of events and close with timers faked after createSandbox', async () => {
  const sandbox = await open()
  vi.useFakeTimers()
  expect(await wait(sandbox)).toEqual(WAITED)
  await closeHalfway(sandbox)
  expect(isFaked()).toBe(true)
})

test('a forgotten close does not keep the runner alive', async () => {
  const sandbox = await open()
  expect(typeof (await sandbox.token())).toBe('string')
})
