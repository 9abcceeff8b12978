// Runs the tests that concern both databases on Postgres, which the first module chooses.
import './on-postgres.js'
import '../persistence/failures.test.js'
import '../persistence/memory.test.js'
import '../persistence/restarts.test.js'
import '../persistence/coverage.test.js'
import '../persistence/scenarios.test.js'
import '../persistence/upgrades.test.js'
import '../persistence/walk.test.js'

// What is read from a database is the same on both.
if (process.env.TEST_LONG === '1') await import('./upgrade.test.js')
