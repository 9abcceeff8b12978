/** Runs a sandbox with the default fake timers of Vitest. They leave nextTick and queueMicrotask real. */
import { afterEach, expect, test, vi } from 'vitest'
import { collect, isFaked, open, SETTLED } from './journey.js'

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
