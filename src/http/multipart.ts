import { isUtf8 } from 'node:buffer'
import { finished, type Readable } from 'node:stream'
import { Dicer } from '@fastify/busboy'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { errors } from '../core/errors.js'
import { hintIgnored } from './hints.js'
import type { Upload } from './request-context.js'

export const MULTIPART = 'multipart/form-data'

/** The largest document in bytes (decisions §1). */
const LARGEST = 10 * 1024 * 1024
const MOST_PARTS = 20
const MOST_HEADERS = 32
const LONGEST_NAME = 255
const PART = 'file'

export interface MultipartOptions {
  /** Returns whether content has a format that the routes take. */
  accepts(content: Buffer): boolean
  /** The formats, for messages. */
  formats: string
}

/** Takes `multipart/form-data` with one part `file` on the routes of its scope (decisions §9), as `request.sandbox.upload`. */
export const multipart = fp<MultipartOptions>((app, { accepts, formats }, done) => {
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser(MULTIPART, async (request: FastifyRequest, body: Readable) => {
    const [upload, another] = await readFiles(request, body)
    if (another !== undefined) throw errors.malformed(PART, `${PART} must be given once.`)
    if (upload?.content.length === 0) throw errors.missing(PART, 'The document is empty.')
    if (upload !== undefined && !accepts(upload.content)) {
      throw errors.unsupportedMediaType(PART, `The document must be ${formats} by its first bytes.`)
    }
    request.sandbox.upload = upload
  })
  app.addHook('preValidation', function requireFile(request, _reply, next) {
    if (request.sandbox.upload === undefined) throw errors.missing(PART)
    next()
  })
  done()
})

/**
 * Reads the parts called `file`, also those without the name of a file (RFC 7578 §4.2). After a refusal, the rest of the body is
 * not parsed. Its parser comes from https://github.com/fastify/busboy, whose own reading of names prefers the fallback.
 * Throws PAYLOAD_TOO_LARGE, MALFORMED_REQUEST.
 */
function readFiles(request: FastifyRequest, body: Readable): Promise<Upload[]> {
  return new Promise((resolve, reject) => {
    const uploads: Upload[] = []
    let partCount = 0
    let parser: Dicer | undefined
    const refuse = (error: Error) => {
      if (parser !== undefined) body.unpipe(parser)
      body.resume()
      reject(error)
    }
    const refuseForm = () =>
      refuse(errors.malformed(null, 'The body is not well-formed multipart/form-data, or has too many parts.'))

    const boundary = /;\s*boundary=(?:"([^"]+)"|([^\s;"]+))/i.exec(String(request.headers['content-type']))
    if (boundary === null) {
      refuseForm()
      return
    }
    parser = new Dicer({ boundary: (boundary[1] ?? boundary[2]) as string, maxHeaderPairs: MOST_HEADERS })
    parser.on('part', part => {
      if (++partCount > MOST_PARTS) refuseForm()
      part.on('error', refuseForm)
      part.on('header', header => {
        const { name, fileName } = dispositionOf((header as Headers)['content-disposition']?.[0] ?? '')
        if (name !== PART) {
          if (name !== undefined) hintIgnored(request, 'member', name)
          part.resume()
          return
        }
        const chunks: Buffer[] = []
        let size = 0
        part.on('data', (chunk: Buffer) => {
          size += chunk.length
          if (size > LARGEST) refuse(errors.payloadTooLarge(PART, '10 MiB'))
          else chunks.push(chunk)
        })
        part.on('end', () => uploads.push({ content: Buffer.concat(chunks), fileName: fileName || 'document' }))
      })
    })
    parser.on('error', refuseForm)
    parser.on('finish', () => resolve(uploads))
    // The client can end the connection in the middle of the body.
    finished(body, error => error && refuseForm())
    body.pipe(parser)
  })
}

type Headers = Readonly<Record<string, readonly string[]>>

/** A parameter of a header field, in quotes or not. */
const PARAMETER = /;\s*([\w-]+\*?)\s*=\s*(?:"((?:\\["\\]|[^"])*)"|([^\s;]*))/g

/**
 * Returns the names of a part and of its file, without a path, from Content-Disposition in Latin-1. The extended form of a
 * name wins over its fallback (RFC 8187 §4.2).
 */
function dispositionOf(header: string): { name: string | undefined; fileName: string | undefined } {
  const parameters = new Map<string, string>()
  for (const [, name = '', quoted, token = ''] of header.matchAll(PARAMETER)) {
    parameters.set(name.toLowerCase(), quoted?.replace(/\\(["\\])/g, '$1') ?? token)
  }
  const textOf = (name: string) => {
    const given = parameters.get(name)
    return given && Buffer.from(given, 'latin1').toString()
  }
  const fileName = extendedOf(parameters.get('filename*')) ?? textOf('filename')
  return { name: textOf('name'), fileName: fileName && shortened(fileName) }
}

/** Decodes an extended value (RFC 8187 §3.2). Returns undefined for a malformed value, which counts as left out. */
function extendedOf(value = ''): string | undefined {
  const [, charset = '', encoded] = /^(utf-8|iso-8859-1)'[^']*'((?:[^%]|%[0-9a-f]{2})+)$/i.exec(value) ?? []
  if (encoded === undefined) return undefined
  const octets = encoded.replace(/%(..)/g, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16)))
  if (charset.toLowerCase() === 'iso-8859-1') return octets
  const bytes = Buffer.from(octets, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : undefined
}

/** Removes the path and control characters. Cuts between characters: half of one is no text. */
const shortened = (fileName: string) =>
  [...fileName.replace(/^.*[/\\]/s, '').replace(/\p{Cc}/gu, '')].slice(0, LONGEST_NAME).join('')
