import multipart from '@fastify/multipart'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { SandboxError } from '../core/errors.js'
import { errors } from '../core/errors.js'
import { wrongMediaType } from './error-handler.js'
import { hintIgnored } from './hints.js'
import { hasBody } from './validation.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The uploaded file, on routes that take one. */
    upload: Upload
  }
}

/** An uploaded file. */
export interface Upload {
  readonly fileName: string
  readonly content: Buffer
}

/** The largest document: decisions §1. */
const LARGEST = 10 * 1024 * 1024
/** The document with all that comes along with it. */
const LARGEST_BODY = LARGEST + 1024 * 1024
const LONGEST_NAME = 255
const PART = 'file'
const MULTIPART = 'multipart/form-data'

/** Lets the routes of a plugin take uploads. */
export function acceptUploads(app: FastifyInstance): void {
  app.decorateRequest('upload')
  app.register(multipart, {
    limits: { fileSize: LARGEST, files: 4, fields: 16, fieldSize: 64 * 1024, parts: 20, headerPairs: 32 },
  })
}

/**
 * Route options for `multipart/form-data` with one part `file` (decisions §9).
 * @param accepts tells whether content is of a format that the route takes
 * @param formats what messages call those formats
 */
export const acceptUpload = (accepts: (content: Buffer) => unknown, formats: string) => ({
  config: {
    consumes: MULTIPART,
    async receive(request: FastifyRequest): Promise<SandboxError | undefined> {
      if (!hasBody(request)) return errors.missing(PART)
      if (!request.isMultipart()) throw wrongMediaType(request)

      const collected = collect(request)
      const uploads = await readFiles(request)
      request.bytes = collected()
      if (uploads === undefined) {
        return errors.malformed(null, 'The body is not well-formed multipart/form-data, or has too many parts.')
      }
      const [upload, another] = uploads
      if (upload === undefined) return errors.missing(PART)
      if (another !== undefined) return errors.malformed(PART, `${PART} must be given once.`)
      if (upload.content.length === 0) return errors.missing(PART, 'The document is empty.')
      if (!accepts(upload.content)) {
        throw errors.unsupportedMediaType(PART, `The document must be ${formats} by its first bytes.`)
      }
      request.upload = upload
      return undefined
    },
  },
})

/** Keeps the bytes of a body that is read piece by piece; to be asked when it has been. @throws PAYLOAD_TOO_LARGE */
function collect(request: FastifyRequest): () => Buffer {
  const chunks: Buffer[] = []
  let length = 0
  request.raw.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length <= LARGEST_BODY) chunks.push(chunk)
  })
  return () => {
    if (length > LARGEST_BODY) throw errors.payloadTooLarge(PART, '11 MiB with all its parts')
    return Buffer.concat(chunks)
  }
}

/** The files called `file`; undefined where the body is malformed. @throws PAYLOAD_TOO_LARGE */
async function readFiles(request: FastifyRequest): Promise<Upload[] | undefined> {
  const uploads: Upload[] = []
  try {
    for await (const part of request.parts()) {
      if (part.type !== 'file') {
        hintIgnored(request, 'member', part.fieldname)
        continue
      }
      if (part.fieldname !== PART) {
        hintIgnored(request, 'member', part.fieldname)
        part.file.resume()
        continue
      }
      const content = await part.toBuffer()
      uploads.push({ fileName: shortened(part.filename) || 'document', content })
    }
  } catch (error) {
    if ((error as { code?: string }).code === 'FST_REQ_FILE_TOO_LARGE') throw error
    return undefined
  }
  return uploads
}

/** Cut between characters: half of one is no text. */
const shortened = (fileName = '') => [...fileName].slice(0, LONGEST_NAME).join('')
