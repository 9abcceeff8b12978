// Runs the tests of this folder in one process: loading the server takes most of the time of a small file.
import './sqlite.test.js'
import './failures.test.js'
import './restarts.test.js'
import './coverage.test.js'
import './memory.test.js'
import './snapshots.test.js'
import './scenarios.test.js'
import './walk.test.js'
