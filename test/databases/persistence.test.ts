// Runs the tests that concern both databases on Postgres, which the first module chooses.
import './on-postgres.js'
import '../persistence/failures.test.js'
import '../persistence/restarts.test.js'
import '../persistence/upgrades.test.js'
import '../persistence/walk.test.js'

// These concern what is above a database.
if (process.env.TEST_LONG === '1') {
  await import('../persistence/memory.test.js')
  await import('../persistence/coverage.test.js')
  await import('../persistence/scenarios.test.js')
  await import('./upgrade.test.js')
}
