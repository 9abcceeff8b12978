/** Loads a server as `lib/load.js` says, where there is no wrk. A process of its own, so that it has a core of its own. */
import { readFileSync } from 'node:fs'
import autocannon from 'autocannon'

const {
  port,
  seconds,
  connections,
  method,
  path,
  headers,
  body,
  tokens,
  first = 1,
} = JSON.parse(readFileSync(process.argv[2], 'utf8'))

let n = first - 1
const isVaried = path.includes('{n}') || body?.includes('{n}')
const setupRequest = request => {
  n++
  if (tokens !== undefined) request.headers = { ...headers, authorization: `Bearer ${tokens[n % tokens.length]}` }
  if (isVaried) {
    request.path = path.replaceAll('{n}', n)
    request.body = body?.replaceAll('{n}', n)
  }
  return request
}

const result = await autocannon({
  url: `http://127.0.0.1:${port}`,
  connections,
  duration: seconds,
  requests: [{ method, path, headers, body, ...((isVaried || tokens !== undefined) && { setupRequest }) }],
})
process.stdout.write(JSON.stringify({ answered: result.requests.total, took: result.duration, refused: result.non2xx }))
