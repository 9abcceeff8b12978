// Runs the tests of this folder in one process: loading the server takes most of the time of a small file.
import './client.test.js'
import './events.test.js'
import './library.test.js'
import './process.test.js'
import './records.test.js'
import './types.test.js'
