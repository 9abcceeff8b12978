import { LARGE } from '../../http/large-answers.js'
import { VERSION } from '../../package.js'
import type { Tenant } from '../../tenants/tenant.js'
import type { ControlRoute } from '../control-route.js'
import { INDENT, route, toDocument } from '../control-route.js'
import { RECORDING_FORMAT, RECORDING_VERSION } from './file-format.js'
import { RecordingFile } from './schemas.js'

/** The calls of the recording. */
export const recordingRoutes: readonly ControlRoute[] = [
  route({
    method: 'GET',
    url: '/recording',
    operationId: 'getRecording',
    summary: 'What changed the tenant since its start, as a file for `payments-sandbox replay`',
    description:
      'The file has a start state, and the later requests that changed the tenant. It has no secrets or tokens. A ' +
      'reset, a restored state and a restart of the server begin another recording. At the limit ' +
      '`SANDBOX_RECORDING_BYTES` a recording stops: `complete` is then false.',
    response: RecordingFile,
    handle({ registry, recorder, largeAnswers, tenant, readLater, client, reply }) {
      reply.header('content-disposition', `attachment; filename="recording-${encodeURIComponent(client)}.json"`)
      const make = (tenant: Tenant) => {
        // Those of the same turn: the client can be another one later.
        const { clientId, secretDigest, tokenGenerationOffset, ...identity } = registry.identityOf(client)
        return {
          format: RECORDING_FORMAT,
          version: RECORDING_VERSION,
          recordedBy: VERSION,
          clientId,
          seed: registry.seed,
          publicUrl: registry.publicUrl(),
          tokenLifetime: registry.tokenLifetime,
          identity,
          ...recorder.of(tenant),
        }
      }
      const document = recorder.bytes(tenant()) <= LARGE ? toDocument(reply, make(tenant())) : undefined
      return document ?? largeAnswers.send(reply, place => readLater(make, place), INDENT)
    },
  }),
]
