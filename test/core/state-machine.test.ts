import t from 'tap'
import type { Lifecycle } from '../../src/core/records/state-machine.js'
import { legalMoves, next } from '../../src/core/records/state-machine.js'

type State = 'OPEN' | 'SHUT' | 'GONE'
type Verb = 'shut' | 'open' | 'remove'

const door: Lifecycle<State, Verb> = {
  OPEN: { shut: 'SHUT' },
  SHUT: { open: 'OPEN', remove: 'GONE' },
  GONE: {},
}

t.test('control plane: the legal moves of a state, in the order of the diagram', async t => {
  t.same(legalMoves(door, 'OPEN'), [{ verb: 'shut', to: 'SHUT' }])
  t.same(legalMoves(door, 'SHUT'), [
    { verb: 'open', to: 'OPEN' },
    { verb: 'remove', to: 'GONE' },
  ])
  t.same(legalMoves(door, 'GONE'), [])
})

t.test('control plane, verbs: a legal verb leads to its state', async t => {
  t.equal(next(door, 'OPEN', 'shut', 'door'), 'SHUT')
  t.equal(next(door, 'SHUT', 'open', 'door'), 'OPEN')
  t.equal(next(door, 'SHUT', 'remove', 'door'), 'GONE')
})

t.test('decisions §2, ILLEGAL_TRANSITION: the message names what was tried and what is legal', async t => {
  t.throws(() => next(door, 'OPEN', 'remove', 'door'), {
    code: 'ILLEGAL_TRANSITION',
    field: null,
    status: 409,
    message: 'Cannot remove a door that is OPEN. Legal now: shut.',
  })
  t.throws(() => next(door, 'SHUT', 'shut', 'door'), { message: /SHUT.*open, remove/ })
})

t.test('decisions §2, ILLEGAL_TRANSITION: of a final state the message says so', async t => {
  t.throws(() => next(door, 'GONE', 'open', 'door'), {
    code: 'ILLEGAL_TRANSITION',
    message: 'Cannot open a door that is GONE. Legal now: nothing, the state is final.',
  })
})
