// Runs the tests of this folder in one process: loading the server takes most of the time of a small file.
import './cli.test.js'
import './commands.test.js'
import './config.test.js'
import './health.test.js'
import './log.test.js'
import './serve.test.js'
import './start.test.js'
