// Runs the tests of this folder in one process: loading the server takes most of the time of a small file.
import './recorder.test.js'
import './recording.test.js'
import './replay.test.js'
