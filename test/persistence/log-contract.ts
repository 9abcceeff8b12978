import type { Test } from 'tap'
import type { LogRow, TenantLog } from '../../src/turns/tenant-log.js'

export const row = (sequence: number, content = `{"n":${sequence}}`, operation = 'POST /x'): LogRow => ({
  ...{ sequence, instant: 1_800_000_000_000 + sequence, operation, content },
  document: sequence % 2 === 0 ? Buffer.from([0, sequence, 255]) : null,
})

/** Tests the promises of `TenantLog` on an empty log. */
export async function testLog(t: Test, log: TenantLog): Promise<void> {
  t.same(await log.after('acme', 0), [], 'no tenant')
  t.same(await log.after('a\0b', 0), [], 'a client id that no tenant can have')
  t.equal(await log.append('acme', row(2)), false, 'a log begins with a snapshot')
  t.equal(await log.appendSnapshot('acme', row(1)), true)
  t.equal(await log.appendSnapshot('acme', row(1)), false, 'a tenant begins once')
  const rows = [1, 2, 3, 4].map(sequence => row(sequence, sequence === 1 ? undefined : JSON.stringify('é\0\n"\ud800')))
  for (const next of rows.slice(1)) t.equal(await log.append('acme', next), true)
  const plain = (found: readonly LogRow[]) =>
    found.map(({ document, ...rest }) => ({ ...rest, document: document && [...document] }))
  t.same(plain(await log.after('acme', 0)), plain(rows))
  t.same(plain(await log.after('acme', 3)), plain(rows.slice(3)))
  t.same(await log.after('acme', 4), [])
  t.equal(await log.append('acme', row(4)), false, 'the number is taken')
  t.equal(await log.append('acme', row(6)), false, 'there are no gaps')
  t.equal(await log.appendSnapshot('acme', row(4)), false)
  t.equal(await log.appendSnapshot('acme', row(5, '{}', 'snapshot')), true)
  t.match(await log.after('acme', 0), [{ sequence: 5, operation: 'snapshot' }], 'what it covers is gone')
  t.equal((await log.after('acme', 2)).length, 1)
  t.equal(await log.append('acme', row(3)), false, 'a number that a snapshot covers')
  await log.appendSnapshot('beta', row(1))
  const results = await Promise.all([row(2), row(2), row(2)].map(next => log.append('beta', next)))
  t.same(results.sort(), [false, false, true], 'appended at the same time')
  t.same(await log.tenants(), ['acme', 'beta'])
  await log.appendSnapshot('beta', row(3, '{}', 'end'))
  t.same(await log.tenants(), ['acme'], 'a tenant that was removed is not listed')
  await log.appendSnapshot('beta', row(4, '{}', 'begin'))
  t.same(await log.tenants(), ['acme', 'beta'], 'until it begins again')
  for (const client of ['acme', 'acme', 'beta']) await log.addLinks(client, ['pl_1', 'pl_2'])
  t.same((await log.clientsOfLink('pl_2')).sort(), ['acme', 'beta'])
  t.same(await log.clientsOfLink('pl_3'), [])
  await log.check()
}
