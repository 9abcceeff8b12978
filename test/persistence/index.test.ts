// Runs the tests of this folder in one process: loading the server takes most of the time of a small file.
import './sqlite.test.js'
import './postgres-request-log.test.js'
import './pages.test.js'
import './restarts.test.js'
import './turns.test.js'
