import { connect } from 'node:net'

const END_OF_HEAD = Buffer.from('\r\n\r\n')

/**
 * One connection that is kept alive, one request at a time, with as little work of its own as can be: what it measures
 * is the server. Takes answers that name their length, as the sandbox's do.
 */
export class Connection {
  #socket
  #port
  #pending = []
  #length = 0
  /** @type {{ resolve(answer: Answer): void, reject(error: Error): void } | null} */
  #waiting = null

  /** @param {number} port on loopback */
  constructor(port) {
    this.#port = port
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.#socket.on('data', chunk => this.#take(chunk))
    this.#socket.on('error', error => this.#fail(error))
    this.#socket.on('close', () => this.#fail(new Error('the server closed the connection')))
  }

  /**
   * @typedef {object} Answer
   * @property {number} status
   * @property {Buffer} body
   * @property {number} bytes of head and body
   */
  /**
   * @param {string} method
   * @param {string} path
   * @param {Record<string, string>} [headers]
   * @param {string} [body] JSON, unless the headers say otherwise
   * @returns {Promise<Answer>}
   */
  send(method, path, headers = {}, body = undefined) {
    let head = `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1:${this.#port}\r\n`
    for (const name in headers) head += `${name}: ${headers[name]}\r\n`
    if (body !== undefined) {
      if (headers['content-type'] === undefined) head += 'content-type: application/json\r\n'
      head += `content-length: ${Buffer.byteLength(body)}\r\n`
    }
    return new Promise((resolve, reject) => {
      if (this.#waiting !== null) throw new Error('one request at a time')
      this.#waiting = { resolve, reject }
      this.#socket.write(`${head}\r\n${body ?? ''}`)
    })
  }

  /** As `send`, and takes the JSON of the answer apart. @throws Error where it was refused */
  async json(method, path, headers, body) {
    const answer = await this.send(method, path, headers, body === undefined ? undefined : JSON.stringify(body))
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.body.toString()}`)
    return answer.body.length === 0 ? undefined : JSON.parse(answer.body.toString())
  }

  close() {
    this.#socket.destroy()
  }

  #fail(error) {
    const waiting = this.#waiting
    this.#waiting = null
    waiting?.reject(error)
  }

  #take(chunk) {
    this.#pending.push(chunk)
    this.#length += chunk.length
    if (this.#needed > this.#length) return
    const all = this.#pending.length === 1 ? chunk : Buffer.concat(this.#pending)
    const end = all.indexOf(END_OF_HEAD)
    if (end < 0) return this.#keep(all)
    const head = all.latin1Slice(0, end)
    const status = Number(head.slice(9, 12))
    const length = /\r\ncontent-length: (\d+)/i.exec(head)
    const hasBody = status !== 204 && status !== 304
    if (length === null && hasBody) return this.#fail(new Error(`an answer without length: ${head}`))
    const needed = end + 4 + (hasBody ? Number(length?.[1]) : 0)
    if (all.length < needed) return this.#keep(all, needed)
    this.#pending = []
    this.#length = 0
    this.#needed = 0
    const waiting = this.#waiting
    this.#waiting = null
    waiting?.resolve({ status, body: all.subarray(end + 4, needed), bytes: needed })
  }

  #needed = 0
  #keep(all, needed = 0) {
    this.#pending = [all]
    this.#length = all.length
    this.#needed = needed
  }
}

/**
 * The access token of a client, which is registered by it.
 * @param {Connection} connection
 */
export async function tokenOf(connection, clientId, clientSecret = 'bench-secret') {
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
  }).toString()
  const type = { 'content-type': 'application/x-www-form-urlencoded' }
  const { status, body } = await connection.send('POST', '/api/v1/oauth/token', type, form)
  if (status !== 200) throw new Error(`no token: ${status} ${body}`)
  return JSON.parse(body.toString()).access_token
}
