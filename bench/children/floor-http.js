/**
 * The floor of the platform: node:http that sends the same bytes to whatever it is asked. What they are is handed in as
 * a file: {status, headers: [name, value, ...], body: base64}. Without one it says ok.
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const [port, file] = process.argv.slice(2)
const {
  status,
  headers,
  body: encoded,
} = file === undefined
  ? {
      status: 200,
      headers: ['content-type', 'application/json'],
      body: Buffer.from('{"status":"ok"}').toString('base64'),
    }
  : JSON.parse(readFileSync(file, 'utf8'))
const body = Buffer.from(encoded, 'base64')

createServer((_request, response) => {
  response.writeHead(status, headers)
  response.end(body)
}).listen(Number(port), '127.0.0.1')
