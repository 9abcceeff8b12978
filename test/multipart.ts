/** A part of a body in multipart/form-data. */
export interface Part {
  name?: string
  /** Null: a part without a file name, which is a plain field. */
  fileName?: string | null
  type?: string | null
  /** Further parameters of Content-Disposition, before the others. */
  disposition?: string
  content?: Buffer | string
}

export const BOUNDARY = 'tap-boundary'
export const MULTIPART = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }

/** Returns a multipart body (RFC 7578), spelled out so that tests can spoil it. A part is a small PDF by default. */
export function multipart(...parts: Part[]): Buffer {
  const pieces = parts.flatMap(
    ({ name = 'file', fileName = 'bill.pdf', type = 'application/pdf', disposition = '', content = '%PDF-1.7\n' }) => [
      `--${BOUNDARY}\r\n`,
      `Content-Disposition: form-data${disposition}; name="${name}"${fileName === null ? '' : `; filename="${fileName}"`}\r\n`,
      type === null ? '' : `Content-Type: ${type}\r\n`,
      '\r\n',
      content,
      '\r\n',
    ],
  )
  return Buffer.concat([...pieces, `--${BOUNDARY}--\r\n`].map(piece => Buffer.from(piece)))
}

/** A plain field. */
export const field = (name: string, content = 'hello'): Part => ({ name, fileName: null, type: null, content })

/** Returns the options of a call that uploads one document. */
export const upload = (part: Part = {}) => ({ headers: MULTIPART, body: multipart(part) })
