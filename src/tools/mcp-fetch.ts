import { type Outbound, OutboundRefused } from '../ports/outbound.ts'
import { jsonCounter } from '../support/json-text.ts'
import type { McpRequest } from './mcp-answers.ts'
import type { ListeningSlots } from './mcp-listening.ts'
import type { McpPlace } from './mcp-place.ts'
import { AnswerTooLarge, faultResponse, regularResponse } from './mcp-responses.ts'

/** The way to servers. */
export type Way = {
  outbound: Outbound
  listening: ListeningSlots
  /** For the question, before the handshake, which protocol the server speaks. */
  probeMs: number
}

/** How much a server may answer to one request, in bytes and in values of JSON. */
const maxBytes = 4_194_304
const maxJson = { depth: 64, nodes: 50_000 }
/** How often the stream of an answer, and the one for notices, is opened again for one request. */
const mostReconnects = 5
const mostListens = 20
/** What a server answers that has nothing to be listened to. */
const notOffered = 405

/** An answer that fails once it is too large. */
const bounded = (response: Response): Response => {
  if (!response.body) return response
  let size = 0
  const exceeds = jsonCounter(maxJson)
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(part, controller) {
      size += part.length
      if (size > maxBytes || exceeds(part)) controller.error(new AnswerTooLarge())
      else controller.enqueue(part)
    },
  })
  const { status, statusText, headers } = response
  return new Response(response.body.pipeThrough(counting), { status, statusText, headers })
}

/** The request in a body of ours; undefined for a notice or an answer. */
const requestIn = (body: unknown): McpRequest | undefined => {
  if (typeof body !== 'string') return undefined
  const { id, method }: Partial<McpRequest> = JSON.parse(body)
  return id === undefined || method === undefined ? undefined : { id, method }
}

/** Sends the configured headers, to the server's own host and no other. */
const sendTo =
  (outbound: Outbound, { server, headers: own }: McpPlace): Outbound['fetch'] =>
  async (url, init) => {
    if (new URL(url).host !== new URL(server.url).host)
      throw new OutboundRefused('it leads to another host, which is not followed')
    const headers = new Headers(init?.headers)
    for (const [name, value] of Object.entries(own)) headers.set(name, value)
    return bounded(await outbound.fetch(url, { ...init, headers: Object.fromEntries(headers) }))
  }

/** Whether the answer to the probe says nothing of the protocol. */
const isOfGateway = ({ status }: Response): boolean =>
  status === 401 || status === 403 || status >= 500 || (status >= 300 && status < 400)

/**
 * Asks which protocol a server speaks. Servers older than the question answer it in any way, or
 * not at all: they are initialized in the ordinary way.
 */
const probe = async (
  send: Outbound['fetch'],
  url: string | URL,
  init: RequestInit,
  request: McpRequest,
  probeMs: number,
): Promise<Response> => {
  const signals = [AbortSignal.timeout(probeMs), ...(init.signal ? [init.signal] : [])]
  try {
    const answer = await send(url, { ...init, signal: AbortSignal.any(signals) })
    if (!isOfGateway(answer)) return await regularResponse(answer, { request })
    await answer.body?.cancel()
    return faultResponse(request, `HTTP ${answer.status}`)
  } catch (error) {
    if (error instanceof OutboundRefused || init.signal?.aborted) throw error
    return faultResponse(request, 'it did not answer')
  }
}

/** The requests of one connection, with answers in the form that the protocol's package reads. */
export const mcpFetch = (place: McpPlace, { outbound, listening, probeMs }: Way) => {
  const send = sendTo(outbound, place)
  const { host } = new URL(place.server.url)
  let reconnects = 0
  let listens = 0

  let hasNotices = (): boolean => false

  const listen = async (ask: () => Promise<Response>, request?: McpRequest): Promise<Response> => {
    const release = ++listens > mostListens ? undefined : listening.take(host)
    if (!release)
      return request ? faultResponse(request, 'no') : new Response(null, { status: notOffered })
    try {
      return await regularResponse(await ask(), { request, forNotices: true, ended: release })
    } catch (error) {
      release()
      throw error
    }
  }

  const fetch: Outbound['fetch'] = async (url, init = {}) => {
    const request = requestIn(init.body)
    const ask = () => send(url, init)
    if (request?.method === 'server/discover') return probe(send, url, init, request, probeMs)
    if (request?.method === 'subscriptions/listen') return listen(ask, request)
    if (init.method === 'GET') {
      if (new Headers(init.headers).has('last-event-id')) {
        if (++reconnects > mostReconnects) throw new Error('the answer was cut off too often')
      } else return hasNotices() ? listen(ask) : new Response(null, { status: notOffered })
    }
    return regularResponse(await ask(), { request })
  }

  return {
    fetch,
    /** A request begins: its streams may be cut off as often as any other's. */
    began(): void {
      reconnects = 0
      listens = 0
    },
    /** Whether the stream for notices is opened: once the server has said that it gives some. */
    listens(has: () => boolean): void {
      hasNotices = has
    },
  }
}
