import type { FastifyReply } from 'fastify'
import fastify from 'fastify'
import t from 'tap'
import '../check-answers.js'

const EMPTY = { totalCount: 0, hasMore: false, nextCursor: null, data: [] }
const ENVELOPE = { code: 'INVALID_REGION', field: 'x-region', message: 'No such region.' }

/** Returns the answer of a server whose list of accounts is made by a function. */
const listAccounts = (answer: (reply: FastifyReply) => void) => {
  const app = fastify()
  app.get('/api/v1/accounts', (_request, reply) => answer(reply))
  return app.inject('/api/v1/accounts')
}

t.test('CONTRIBUTING, Requirements of a change: an answer that does not fit becomes 500', async t => {
  const written = t.capture(process.stderr, 'write')
  const rows: [difference: RegExp, answer: (reply: FastifyReply) => void][] = [
    [/required property 'data'/, reply => reply.send({ ...EMPTY, data: undefined })],
    [/totalCount must be integer/, reply => reply.send({ ...EMPTY, totalCount: '0' })],
    [/no such status/, reply => reply.code(202).send(EMPTY)],
    [/no such content type: text\/plain/, reply => reply.type('text/plain').send('none')],
    [/the operation has no code UNKNOWN/, reply => reply.code(400).send({ ...ENVELOPE, code: 'UNKNOWN' })],
    [/required property 'code'/, reply => reply.code(418).send({ error: 'teapot' })],
    [/header Retry-After: data must be integer/, reply => reply.code(429).header('retry-after', 'soon').send(ENVELOPE)],
  ]
  const { exitCode } = process
  for (const [difference, answer] of rows) {
    process.exitCode = undefined
    const { statusCode } = await listAccounts(answer)
    t.same([statusCode, process.exitCode], [500, 1], String(difference))
    // That of a failed test stays.
    process.exitCode = exitCode
    t.match(written()[0]?.args[0], difference)
  }
})

t.test('CONTRIBUTING, Requirements of a change: an answer that fits passes', async t => {
  const { exitCode } = process
  t.same((await listAccounts(reply => reply.send(EMPTY))).json(), EMPTY)
  const refusal = await listAccounts(reply => reply.code(400).send(ENVELOPE))
  t.same([refusal.statusCode, refusal.json()], [400, ENVELOPE])
  t.equal(process.exitCode, exitCode)
})
