// Runs the tests of this folder in one process: loading the server takes most of the time of a small file.
import './catalogue.test.js'
import './control-plane-docs.test.js'
import './error-codes.test.js'
import './error-docs.test.js'
import './fidelity.test.js'
import './import-rule.test.js'
import './openapi.test.js'
import './readme.test.js'
