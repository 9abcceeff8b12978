/**
 * Changes that a test must find (`npm run mutants`). By file of src: the text, its replacement, the nearest tests; for one
 * that lives, the reason.
 */
export const mutants = {
  'http/large-answers.ts': [
    ['        leave()\n        throw error', '        throw error', 'http/large-answers'],
    ["stream.once('close', leave)", "stream.once('end', leave)", 'http/large-answers'],
    ['        cancel()\n', '', 'http/large-answers'],
    ['if (next === undefined) places++\n      else next()', 'places++\n      next?.()', 'http/large-answers'],
    ['const MOST = 4\n', 'const MOST = 5\n', 'http/large-answers'],
    ['if (raw.destroyed) throw', 'if (false) throw', 'http/large-answers'],
    ['if (elapsed() - began > PATIENCE_MS / 2) cutOff()', 'cutOff()', 'http/large-answers'],
  ],
  'http/json-body.ts': [
    ['isHostile ||= mayBeHostile(text)', 'isHostile = mayBeHostile(text)', 'http/large-body'],
    ['isHostile ||= mayBeHostile(text)', 'isHostile ||= end === bytes.length && mayBeHostile(text)', 'http/large-body'],
    ['if (isHostile) yield*', 'if (isHostile && lists.length === 0) yield*', 'http/large-body'],
    ['byte === BACKSLASH ? 1 : 0', '0', 'http/large-body'],
    ['if (items.length > 0 || !', 'if (items.length > 0 || ', 'http/large-body'],
    ['        taken = at + 1\n', '', 'http/large-body'],
    [
      'const name = String(key)\n      if (name ===',
      'const name = String(key)\n      if (name === "" &&',
      'http/large-body',
    ],
  ],
  'turns/turns.ts': [
    ['begin([clientId, other], turnOf', 'begin([clientId], turnOf', 'http/slices'],
    ['ends.get(clientId) ?? ends.get(other)', 'ends.get(clientId)', 'http/slices'],
    [
      'clientId === undefined ? undefined : ends.get(clientId)\n',
      'undefined as Promise<unknown> | undefined\n',
      'http/slices',
    ],
    ['const wakes = hasChanged || ', 'const wakes = ', 'control/events', 'A wait has a timer for the next due work.'],
    ['    if (wakes) changed(clientId)', '', 'control/events'],
    ['if (result instanceof Promise) void result.then(() => done(), done)\n    else done()', 'done()', 'http/slices'],
    ['!skipsDueWork && (yield* sync', '(yield* sync', 'control/parked'],
    ['if (tenant !== undefined) described', 'described', 'http/slices'],
  ],
  'turns/stored-turns.ts': [
    ['        await transaction.rollback()\n        // Its', '        // Its', 'persistence/failures'],
    ['for (const slot of all) forget(slot)\n', '\n', 'persistence/failures'],
    ['if (written.size === 0) await transaction.rollback()', 'if (written.size === 0) {}', 'persistence/failures'],
    ['    await outcome.afterwards\n', '', 'persistence/snapshots'],
    ['slot.users > 0 || isInUse(slot.clientId)', 'slot.users > 0', 'persistence/memory'],
    ['.sort().map(slotOf)', '.map(slotOf)', 'persistence/memory'],
    ['      if (isLoading) forget(slot)\n', '', 'persistence/memory'],
    ['    loading?.install()\n', '', 'persistence/memory'],
    ['      for (const { clientId } of all) changed(clientId)\n', '', 'persistence/memory'],
    ['        makeRoom()\n', '', 'persistence/memory'],
    ['      forget(slot)\n      slots.delete', '      slots.delete', 'persistence/memory'],
    ['[...new Set([clientId, other])]', '[...new Set([clientId])]', 'http/slices'],
    ['stored !== undefined && users === 0 && ', 'stored !== undefined && ', 'http/slices'],
    // Only the check of what is left finds it.
    ['        slot.users--\n', '', 'persistence/scenarios'],
  ],
  'turns/sqlite.ts': [
    ["        await use(() => connection.exec('ROLLBACK')).catch(() => {})\n", '', 'persistence/sqlite'],
    ['for (const { fail } of batch) fail(error)', 'batch[0]?.fail(error)', 'persistence/sqlite'],
    ["exec('COMMIT'))\n        assertInPlace()", "exec('COMMIT'))", 'persistence/sqlite'],
    ['for (const { done } of batch) done()', 'batch[0]?.done()', 'persistence/sqlite'],
    // Only the check of what is left finds it.
    ['        inUse--\n', '', 'persistence/scenarios'],
  ],
  'turns/postgres.ts': [
    ['    const rollback = () => end(', '    const rollback = async () => void (', 'databases/failures'],
    ["await run('', text, [])\n        release()", "await run('', text, [])", 'databases/failures'],
  ],
  'features/events/waiters.ts': [
    // Only the check of what is left finds it.
    ['          all.delete(wait)\n', '', 'control/events'],
    ['if (all.size === 0 && waits.get(clientId) === all) waits.delete(clientId)', '', 'persistence/memory'],
    ['          cancelTimer()\n          all', '          all', 'control/events'],
    ['          cancelTimer()\n          const', '          const', 'control/events'],
    ['if (milliseconds === null) wait.cancel()\n          else', 'if (milliseconds !== null)', 'control/events'],
  ],
  'features/events/read.ts': [
    ["  socket.once('close', cancel)\n", '', 'control/events'],
    // Only the check of what is left finds it.
    [".finally(() => socket.off('close', cancel))", '', 'control/events'],
    [
      '      if (data.length > 0 || left <= 0 || isClosing() || isReplaced)',
      '      if (data.length > 0 || left <= 0 || isReplaced)',
      'control/events',
    ],
    ['return Math.min(left, untilNextDue(current, realNow))', 'return left', 'control/events'],
  ],
  'features/stream.ts': [
    ['    wait.cancel()\n', '', 'control/events'],
    ['  if (socket.destroyed) return\n', '', 'control/events'],
    ['      raw.end()\n      return null', '      return null', 'control/events'],
    ['      raw.destroy()\n      return null', '      return null', 'control/events'],
    ['    lastSent = elapsed()\n    raw', '    raw', 'control/events'],
    ['isClosing() || !registry.has(client)', 'isClosing()', 'control/events'],
  ],
  'features/snapshots/snapshots.ts': [
    // Only the check of what is left finds it.
    ['bytes - (former?.summary.bytes ?? 0) + ', 'bytes + ', 'control/snapshots'],
    // Only the check of what is left finds it.
    ['    bytes -= snapshots.get(name)?.summary.bytes ?? 0\n', '', 'control/snapshots'],
    ["if (reason === 'removed') snapshots", "if (reason === 'released') snapshots", 'control/snapshots'],
    ['former === undefined && snapshots.size', 'snapshots.size', 'control/snapshots'],
  ],
  'features/request-log/request-log.ts': [
    ['exchange.bytes > bounds.bytes || bounds.entries === 0', 'bounds.entries === 0', 'control/requests'],
    ['if (log.start > entries.length / 2) entriesOf(log)', '', 'control/requests'],
    ['    log.bytes -= exchange.bytes\n', '', 'control/requests'],
    ['    bytes -= exchange.bytes\n    log', '    log', 'control/requests'],
    [
      'if (older === undefined) oldest = newer\n',
      'if (older === undefined) oldest = undefined\n',
      'control/request-log',
    ],
    ['else newer.older = older', 'else newer.older = undefined', 'control/request-log'],
    ['      logs.delete(clientId)\n', '', 'control/requests'],
    ['({ seq }) => seq >= before', '({ seq }) => seq > before', 'console/console'],
    ['    log.dropped++\n    //', '    //', 'control/requests'],
    ['    for (const entry of entries) forget(entry)\n', '', 'control/requests'],
  ],
  'features/request-log/stream.ts': [
    ['        isStale = true\n        stream', '        stream', 'control/request-stream'],
    ['        if (stream.isFull()) return\n', '', 'control/request-stream'],
    ['if (isReading) isStale = true\n    else', '', 'control/request-stream'],
    ['    requestReads.expire()\n', '', 'control/request-stream'],
  ],
  'server.ts': [
    ['waiters.has(clientId) || requestWaiters.has(clientId)', 'waiters.has(clientId)', 'persistence/memory'],
    ['waiters.has(clientId) || requestWaiters.has(clientId)', 'requestWaiters.has(clientId)', 'persistence/memory'],
    ['      forgetSnapshots(snapshots),\n', '', 'control/snapshots'],
  ],
  'control/admin/sign-in.ts': [
    ["    reply.header('cache-control', 'no-store')\n", '', 'control/session'],
    [
      ".header('cache-control', 'no-store')\n    return reply.redirect('sign-in'",
      "\n    return reply.redirect('sign-in'",
      'control/session',
    ],
  ],
  'http/logging.ts': [
    [
      'clientId: clientOf(sandbox), ms }',
      'clientId: clientOf(sandbox), ms, headers: request.headers }',
      'control/session',
    ],
  ],
  'areas/direct-debit/store.ts': [
    [" && !(status === 'FAILED' && reasonCode === 'MD01')", '', 'control/seed'],
    ["if (status === 'SUBMITTED') mandates", 'mandates', 'areas/mandates'],
  ],
  'tenants/registry.ts': [
    ['leastNeeded(origin)', 'leastNeeded(undefined)', 'tenants/tenants'],
    [', { origin: clientId }), origin)', ', { origin: clientId }))', 'tenants/tenants'],
  ],
  'console/views/requests.tsx': [
    ['cursor: String(rows[0]?.seq)', 'cursor: String(data[0]?.seq)', 'console/console'],
    ['limit: MOST_ROWS + 1', 'limit: MOST_ROWS', 'console/console'],
  ],
}
