import { type IncomingHttpHeaders, request } from 'node:http'
import { text } from 'node:stream/consumers'

export type RawRequest = {
  method?: string
  headers?: Record<string, string | string[]>
  body?: string | Buffer
  /** The request fails when its whole answer has not come in so many milliseconds. */
  patienceMs?: number
}

export type Answer = {
  status: number
  headers: IncomingHttpHeaders
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field
  body: any
}

const parsed = (json: string) => {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/** One request exactly as it is given: no header of its own, any method, any path. */
export const raw =
  (url: string) =>
  (
    path: string,
    { method = 'GET', headers = {}, body, patienceMs }: RawRequest = {},
  ): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(url)
      const signal = patienceMs === undefined ? {} : { signal: AbortSignal.timeout(patienceMs) }
      const options = { hostname, port, path, method, headers, agent: false, ...signal }
      const sent = request(options, (reply) => {
        text(reply).then((json) => {
          const { statusCode: status = 0 } = reply
          resolve({ status, headers: reply.headers, text: json, body: parsed(json) })
        }, reject)
      })
      sent.on('error', reject)
      sent.end(body)
    })
