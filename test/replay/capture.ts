import type { FastifyInstance, InjectOptions } from 'fastify'

/** An entry of a HAR file, as far as tests change it. */
export interface HarEntry {
  startedDateTime: string
  time: number
  request: {
    method: string
    url: string
    headers: { name: string; value: string }[]
    postData?: { mimeType: string; text?: string; params?: { name: string; value: string }[] } | undefined
    [member: string]: unknown
  }
  response: {
    status: number
    headers: { name: string; value: string }[]
    content: { size: number; mimeType: string; text?: string; encoding?: string; comment?: string }
    [member: string]: unknown
  }
  [member: string]: unknown
}

export interface Har {
  log: { version: string; creator: object; entries: HarEntry[] }
}

/** The address of the service in captures. */
export const SERVICE = 'https://api.service.example/gateway'

const pairs = (headers: object) => Object.entries(headers).map(([name, value]) => ({ name, value: String(value) }))

/**
 * Captures the requests to a server as a proxy does it: with all secrets. The control plane is left out.
 * @param clock the time of the service, which tests move
 */
export function captured(app: FastifyInstance, clock: { now: number }) {
  const entries: HarEntry[] = []
  async function inject(options: InjectOptions) {
    const response = await app.inject(options)
    const { method = 'GET', headers = {}, payload } = options
    const url = String(options.url)
    if (url.startsWith('/_sandbox')) return response
    clock.now += 40
    const type = String(response.headers['content-type'] ?? '')
    entries.push({
      startedDateTime: new Date(clock.now - 30).toISOString(),
      time: 20,
      request: {
        method,
        url: `${SERVICE}${url}`,
        httpVersion: 'h2',
        headers: pairs({ ':authority': 'api.service.example', ...headers }),
        queryString: [],
        cookies: [],
        headersSize: -1,
        bodySize: -1,
        ...(payload !== undefined && {
          postData: { mimeType: String((headers as Record<string, string>)['content-type']), text: String(payload) },
        }),
      },
      response: {
        status: response.statusCode,
        statusText: '',
        httpVersion: 'h2',
        headers: pairs(response.headers),
        cookies: [],
        redirectURL: '',
        headersSize: -1,
        bodySize: -1,
        content: { size: response.rawPayload.length, mimeType: type, text: method === 'HEAD' ? '' : response.payload },
      },
      cache: {},
      timings: { send: 0, wait: 20, receive: 0 },
    })
    return response
  }
  const har = (): Har => ({ log: { version: '1.2', creator: { name: 'proxy', version: '1' }, entries } })
  return { app: { inject } as unknown as FastifyInstance, har }
}
