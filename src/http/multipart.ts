import fastifyMultipart from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { errors } from '../core/errors.js'
import { hintIgnored } from './hints.js'
import type { Upload } from './request-context.js'

export const MULTIPART = 'multipart/form-data'

/** The largest document in bytes (decisions §1). */
const LARGEST = 10 * 1024 * 1024
const LONGEST_NAME = 255
const PART = 'file'

export interface MultipartOptions {
  /** Returns whether content has a format that the routes take. */
  accepts(content: Buffer): boolean
  /** The formats, for messages. */
  formats: string
}

/**
 * Takes `multipart/form-data` with one part `file` on the routes of its scope (decisions §9), as `request.sandbox.upload`.
 * https://github.com/fastify/fastify-multipart
 */
export const multipart = fp<MultipartOptions>((app, { accepts, formats }, done) => {
  app.removeContentTypeParser('application/json')
  app.register(fastifyMultipart, {
    limits: { fileSize: LARGEST, files: 4, fields: 16, fieldSize: 64 * 1024, parts: 20, headerPairs: 32 },
  })
  app.addHook('preValidation', async request => {
    if (!request.isMultipart()) throw errors.missing(PART)
    const [upload, another] = await readFiles(request)
    if (upload === undefined) throw errors.missing(PART)
    if (another !== undefined) throw errors.malformed(PART, `${PART} must be given once.`)
    if (upload.content.length === 0) throw errors.missing(PART, 'The document is empty.')
    if (!accepts(upload.content)) {
      throw errors.unsupportedMediaType(PART, `The document must be ${formats} by its first bytes.`)
    }
    request.sandbox.upload = upload
  })
  done()
})

/** Yields the parts of a body. After a refusal, the rest of it is not parsed. */
export async function* partsOf(request: FastifyRequest) {
  try {
    yield* request.parts()
  } finally {
    request.raw.unpipe().resume()
  }
}

/** Reads the files called `file`. Throws PAYLOAD_TOO_LARGE, MALFORMED_REQUEST. */
async function readFiles(request: FastifyRequest): Promise<Upload[]> {
  const uploads: Upload[] = []
  try {
    for await (const part of partsOf(request)) {
      if (part.type === 'file' && part.fieldname === PART) {
        uploads.push({ content: await part.toBuffer(), fileName: shortened(part.filename) || 'document' })
        continue
      }
      hintIgnored(request, 'member', part.fieldname)
      if (part.type === 'file') part.file.resume()
    }
  } catch (error) {
    if ((error as { code?: string }).code === 'FST_REQ_FILE_TOO_LARGE') throw error
    throw errors.malformed(null, 'The body is not well-formed multipart/form-data, or has too many parts.')
  }
  return uploads
}

/** Cuts between characters: half of one is no text. */
const shortened = (fileName = '') => [...fileName].slice(0, LONGEST_NAME).join('')
