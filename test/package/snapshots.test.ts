import t from 'tap'
import { skip } from '../docs/walk.js'
import { install } from './install.js'

t.test('control plane, PUT /snapshots/{name}: save, list, restore and remove with curl', { skip }, async t => {
  const { sh, start } = install()
  const { url } = await start(t)
  const { code, stdout, stderr } = await sh(`
    cd "$(mktemp -d)"
    snapshots() { curl -sSf "${url}/_sandbox/snapshots$1" "\${@:2}"; echo; }
    state() { curl -sSf ${url}/_sandbox/state -o $1.json; }
    state before
    snapshots /before -X PUT
    curl -sSf ${url}/_sandbox/scenarios/collection-returned -X POST -o /dev/null
    state after
    ! cmp -s after.json before.json
    snapshots ''
    snapshots /before/restore -X POST
    state restored
    cmp restored.json before.json
    snapshots /before -X DELETE
    snapshots ''
    rm -r "$PWD"
  `)
  t.equal(code, 0, stderr)
  const [saved, listed, restored, removed, empty] = stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  t.match(saved, { name: 'before', counts: { collections: Number } })
  t.same(listed.data, [saved])
  t.match(restored, { clientId: 'sandbox-client', counts: saved.counts })
  t.same([removed, empty.data], [{ removed: 1 }, []])
})
