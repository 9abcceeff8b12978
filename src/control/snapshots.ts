import { ApiError, errors } from '../core/errors.js'
import type { Slices } from '../core/slices.js'
import { formatInstant } from '../core/time/time.js'
import type { ControlRoute } from '../features/control-route.js'
import { route } from '../features/control-route.js'
import type { NamedSnapshots } from '../features/snapshots/snapshots.js'
import { JSON_TYPE } from '../http/error-handler.js'
import { parseLargeJson } from '../http/json-body.js'
import { jsonPieces } from '../http/json-pieces.js'
import { LARGE } from '../http/large-answers.js'
import type { StateDocument } from '../tenants/snapshot.js'
import type { Turns } from '../turns/turns.js'
import { nameClient } from './route.js'
import * as schemas from './schemas.js'
import { summaryOf } from './summary.js'

export interface SnapshotRoutesOptions {
  readonly turns: Turns
  /** The maximum size of a state document in bytes. */
  readonly stateBytes: number
}

/** Reads a state document that this or an earlier release has saved. It follows no rule, as the rows of a database do. */
function* read(content: string): Slices<StateDocument> {
  return (yield* parseLargeJson(Buffer.from(content), Number.POSITIVE_INFINITY)) as StateDocument
}

/** Rejects with SNAPSHOT_NOT_FOUND. */
async function found(snapshots: NamedSnapshots, client: string, name: string): Promise<string> {
  const content = await snapshots.find(client, name)
  if (content === undefined) throw errors.snapshotNotFound(name)
  return content
}

/** Whether a snapshot is large, before it is read. */
const isLarge = async (snapshots: NamedSnapshots, client: string, name: string): Promise<boolean> =>
  (await snapshots.list(client)).some(snapshot => snapshot.name === name && snapshot.bytes > LARGE)

const tooLarge = () => new ApiError('PAYLOAD_TOO_LARGE', null, 'The state is above SANDBOX_STATE_BYTES.')

/** The calls of named snapshots. */
export const snapshotRoutes = ({ turns, stateBytes }: SnapshotRoutesOptions): readonly ControlRoute[] => [
  route({
    method: 'GET',
    url: '/snapshots',
    operationId: 'listSnapshots',
    summary: 'The named snapshots of the tenant',
    response: schemas.SnapshotList,
    handle: async ({ tenant, client, snapshots }) => {
      tenant()
      return { data: await snapshots.list(client) }
    },
  }),
  route({
    method: 'PUT',
    url: '/snapshots/:name',
    operationId: 'saveSnapshot',
    summary: 'Save the state of the tenant under a name',
    description:
      'The snapshot is the document of `GET /_sandbox/state`. It replaces one of the same name. A client has at most 20 ' +
      'snapshots, each of at most `SANDBOX_STATE_BYTES`. Without a database, all of them together are at most 128 MiB. ' +
      'Snapshots stay when the client is reset or restored, and go when it is removed.',
    isChange: false,
    params: schemas.SnapshotParams,
    body: schemas.Nothing,
    response: schemas.SnapshotSummary,
    *handle({ tenant, client, snapshots, params: { name } }) {
      const saved = tenant()
      let content = ''
      for (const piece of jsonPieces(saved.capture())) {
        content += piece
        if (content.length > stateBytes) throw tooLarge()
        yield
      }
      const bytes = Buffer.byteLength(content)
      if (bytes > stateBytes) throw tooLarge()
      // It may have made room for another meanwhile, and its snapshots are gone.
      if (tenant() !== saved) throw errors.replacedMeanwhile()
      const summary = { name, now: formatInstant(saved.clock.now()), counts: saved.counts(), bytes }
      // A life has no identity before the turn that begins it is stored.
      turns.afterwards(() => snapshots.save(client, { summary, content }))
      return summary
    },
  }),
  route({
    method: 'GET',
    url: '/snapshots/:name',
    operationId: 'getSnapshot',
    errors: ['SNAPSHOT_NOT_FOUND'],
    summary: 'A named snapshot as a state document',
    params: schemas.SnapshotParams,
    response: schemas.StateDocument,
    handle: async ({ tenant, client, snapshots, reply, largeAnswers, params: { name } }) => {
      tenant()
      const find = () => found(snapshots, client, name)
      if (await isLarge(snapshots, client, name)) return largeAnswers.send(reply, find)
      const content = await find()
      reply.type(JSON_TYPE)
      return content
    },
  }),
  route({
    method: 'DELETE',
    url: '/snapshots/:name',
    operationId: 'removeSnapshot',
    errors: ['SNAPSHOT_NOT_FOUND'],
    summary: 'Remove a named snapshot',
    isChange: false,
    params: schemas.SnapshotParams,
    response: schemas.Cleared,
    handle: async ({ tenant, client, snapshots, params: { name } }) => {
      tenant()
      if (!(await snapshots.remove(client, name))) throw errors.snapshotNotFound(name)
      return { removed: 1 }
    },
  }),
  route({
    method: 'POST',
    url: '/snapshots/:name/restore',
    operationId: 'restoreSnapshot',
    // It takes its turn itself, once the snapshot is there.
    isGlobal: true,
    errors: ['CLIENT_NOT_FOUND', 'SNAPSHOT_NOT_FOUND'],
    summary: 'Replace the state of the tenant by a named snapshot, all or nothing',
    description:
      'It does the same as `PUT /_sandbox/state` with the document of the snapshot, but checks no rule: a snapshot of an ' +
      'earlier release stays as it was saved.',
    isChange: false,
    params: schemas.SnapshotParams,
    response: schemas.ResetResult,
    handle: async ({ registry, client, request, reply, snapshots, largeDocuments, params: { name } }) => {
      nameClient(reply, client)
      request.sandbox.clientId = client
      if (await isLarge(snapshots, client, name)) await largeDocuments.enter(reply)
      const resetsOf = (realNow: number) => {
        registry.tenant(client, realNow)
        return registry.identityOf(client).resets
      }
      const { place } = request.sandbox
      const resets = await turns.take(client, { isRead: () => true, place, run: resetsOf })
      const content = await found(snapshots, client, name)
      return await turns.take(client, {
        isRead: () => false,
        place,
        *run(realNow) {
          // The snapshot may be that of a removed client with the same id.
          if (resetsOf(realNow) !== resets) throw errors.replacedMeanwhile()
          const document = yield* read(content)
          try {
            return summaryOf(yield* registry.replace(client, document, realNow, { isSaved: true }), realNow)
          } catch (error) {
            if (error instanceof ApiError) throw error
            request.log.error({ err: error }, 'a snapshot cannot be restored')
            throw errors.unavailable(
              'The snapshot has a record that this release cannot place, such as one of a region or a kind.',
            )
          }
        },
      })
    },
  }),
]
