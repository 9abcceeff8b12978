// Runs the tests of this folder in one process: loading the server takes most of the time of a small file.
import './chromium.test.js'
import './coverage.test.js'
import './docs.test.js'
import './payout-links.test.js'
import './web-access.test.js'
