// Runs the tests that concern both databases on Postgres, which the first module chooses.
import './on-postgres.js'
import '../persistence/failures.test.js'
import '../persistence/restarts.test.js'
import '../persistence/coverage.test.js'
import '../persistence/scenarios.test.js'
import '../persistence/walk.test.js'
import './upgrade.test.js'
