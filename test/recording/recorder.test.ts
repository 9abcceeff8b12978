import t from 'tap'
import { createRecorder } from '../../src/features/recording/recorder.js'
import type { TenantSnapshot } from '../../src/tenants/snapshot.js'
import type { Tenant } from '../../src/tenants/tenant.js'

const REQUEST = { at: '', receivedAt: '', operation: '', params: {}, query: {} }

t.test('control plane, GET /recording: an answer that comes late belongs to the life of its request', async t => {
  const recorder = createRecorder(10_000, () => '')
  const begin = () => {
    const tenant = { clientId: 'acme' } as Tenant
    const noCounts = { counts: () => ({}), events: { last: () => 0 } }
    Object.assign(tenant, noCounts)
    recorder.onCreated(tenant, { reason: 'reset', snapshot: () => ({}) as TenantSnapshot } as never)
    return { tenant, recorded: recorder.add(tenant, REQUEST) }
  }
  const earlier = begin()
  const later = begin()
  if (earlier.recorded === null || later.recorded === null) throw new Error('nothing is recorded')
  recorder.answer(later.recorded, { status: 201, body: 'later' })
  recorder.answer(earlier.recorded, { status: 200, body: 'earlier' })
  t.equal(recorder.miscount(), 0)
  t.match(recorder.of(later.tenant).requests, [{ n: 1, answer: { status: 201, body: 'later' } }])
})
