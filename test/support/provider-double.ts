import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as after } from 'node:timers/promises'

type Call = { name: string; arguments: Record<string, unknown> | string }

/** What the provider does with one request. */
export type Reply = {
  /** Streamed word by word. */
  text?: string
  calls?: readonly Call[]
  /** Asked for or not; null: never reported. */
  usage?: { prompt_tokens: number; completion_tokens: number } | null
  finishReason?: string
  /** Before the headers. */
  delayMs?: number
  /** Between chunks. */
  pauseMs?: number
  /** The body is written in pieces of so many bytes, regardless of characters. */
  pieceBytes?: number
  /** The socket is destroyed after so many chunks. */
  cutAfter?: number
  /** Silence for good after so many chunks. */
  stallAfter?: number
  /** Nothing comes after so many chunks (0: not even headers) before this resolves. */
  hold?: { after: number; until: Promise<unknown> }
  /** Takes the request and never answers. */
  silent?: boolean
  /** An error status with this body, or with OpenAI's error shape. */
  status?: number
  headers?: Record<string, string>
  /** Sent as it is, with 200, in place of an answer. */
  raw?: string
}

type Message = { role: string; content: string | null; tool_calls?: unknown }

export type Received = {
  path: string
  headers: IncomingHttpHeaders
  body: { model: string; messages: Message[]; stream?: boolean; [name: string]: unknown }
  /** Resolves when the connection of this request is gone before the answer was complete. */
  aborted: Promise<void>
}

const words = /\S+\s*/g

const toolCall = ({ name, arguments: args }: Call, index: number) => ({
  index,
  id: `call_${index}_${name}`,
  type: 'function',
  function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
})

/** Tool calls as OpenAI streams them: a head with the name, then the arguments in two pieces. */
const callDeltas = (calls: readonly Call[]): unknown[] => {
  const toolCalls = calls.map(toolCall)
  const heads = toolCalls.map((call) => ({
    ...call,
    function: { ...call.function, arguments: '' },
  }))
  const pieces = [0, 1].flatMap((half) =>
    toolCalls.map(({ index, function: { arguments: args } }) => {
      const middle = args.length >> 1
      return { index, function: { arguments: half ? args.slice(middle) : args.slice(0, middle) } }
    }),
  )
  return [...heads, ...pieces].map((call) => ({ tool_calls: [call] }))
}

const chunksOf = (reply: Reply, model: string): string[] => {
  const { text = '', calls = [], usage, finishReason } = reply
  const head = { id: 'chatcmpl-double', object: 'chat.completion.chunk', created: 1, model }
  const chunk = (delta: unknown, finish_reason: string | null = null) => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason }],
  })
  const reason = finishReason ?? (calls.length > 0 ? 'tool_calls' : 'stop')
  const chunks: unknown[] = [
    chunk({ role: 'assistant', content: '' }),
    ...(text.match(words) ?? []).map((content) => chunk({ content })),
    ...callDeltas(calls).map((delta) => chunk(delta)),
    chunk({}, reason),
  ]
  if (usage) chunks.push({ ...head, choices: [], usage })
  return [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n']
}

const completionOf = (reply: Reply, model: string) => ({
  id: 'chatcmpl-double',
  object: 'chat.completion',
  created: 1,
  model,
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: reply.text ?? null,
        ...(reply.calls ? { tool_calls: reply.calls.map(toolCall) } : {}),
      },
      finish_reason: reply.finishReason ?? (reply.calls ? 'tool_calls' : 'stop'),
    },
  ],
  usage: reply.usage ?? undefined,
})

/** Resolves when the bytes have left, so that a cut after them loses none. */
const write = async (response: ServerResponse, text: string, pieceBytes?: number) => {
  const bytes = Buffer.from(text)
  const step = pieceBytes ?? bytes.length
  for (let at = 0; at < bytes.length && !response.destroyed; at += step)
    await new Promise<void>((left) => {
      response.write(bytes.subarray(at, at + step), () => left())
    })
}

const stream = async (response: ServerResponse, reply: Reply, model: string) => {
  const { cutAfter, stallAfter, hold, pauseMs, pieceBytes, headers } = reply
  response.socket?.setNoDelay(true)
  response.writeHead(200, { 'content-type': 'text/event-stream', ...headers }).flushHeaders()
  const chunks = reply.raw === undefined ? chunksOf(reply, model) : [reply.raw]
  for (const [n, chunk] of chunks.entries()) {
    if (n === stallAfter) return
    if (n > 0 && n === hold?.after) await hold.until
    if (n === cutAfter) {
      response.destroy()
      return
    }
    if (pauseMs) await after(pauseMs)
    if (response.destroyed) return
    await write(response, chunk, pieceBytes)
  }
  if (stallAfter === chunks.length) return
  if (cutAfter === chunks.length) response.destroy()
  else response.end()
}

/** Words that mean the same have the same place in a vector. */
const senses: readonly string[][] = [
  ['car', 'cars', 'automobile', 'vehicle'],
  ['doctor', 'physician', 'medic'],
  ['holiday', 'vacation', 'leave'],
]

/** What a text means to the double: a place for each sense, and a few for all other words. */
const vectorOf = (text: string): number[] => {
  const vector = Array<number>(16).fill(0)
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) {
    const sense = senses.findIndex((words) => words.includes(word))
    const other = 8 + ((word.codePointAt(0) ?? 0) % 8)
    const place = sense === -1 ? other : sense
    vector[place] = (vector[place] ?? 0) + (sense === -1 ? 0.1 : 1)
  }
  return vector
}

/** The embeddings of a request, the last one first: their numbers tell which is whose. */
const embeddingsOf = (input: readonly string[]) => ({
  object: 'list',
  data: input
    .map((text, index) => ({ object: 'embedding', index, embedding: vectorOf(text) }))
    .toReversed(),
})

/**
 * A model provider on loopback that speaks OpenAI's chat completions, streaming and not. Replies
 * are taken from the script in order; after it every request is answered with `otherwise`.
 * Embeddings have a script of their own, of which only what goes wrong counts.
 */
export const providerDouble = async (
  otherwise: Reply | ((body: Received['body']) => Reply) = { text: 'Hello from the double.' },
) => {
  const script: Reply[] = []
  const embedScript: Reply[] = []
  let embedOtherwise: Reply = {}
  const requests: Received[] = []
  const arrivals: { count: number; seen: () => void }[] = []

  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    try {
      for await (const part of request) parts.push(part)
    } catch {
      // The client broke its request off.
      return
    }
    const body = JSON.parse(Buffer.concat(parts).toString())
    const aborted = new Promise<void>((resolve) => {
      response.once('close', () => {
        if (!response.writableFinished) resolve()
      })
    })
    requests.push({ path: request.url ?? '', headers: request.headers, body, aborted })
    for (const { count, seen } of arrivals) if (requests.length >= count) seen()
    const isEmbedding = request.url?.endsWith('/embeddings') ?? false
    const reply = isEmbedding
      ? (embedScript.shift() ?? embedOtherwise)
      : (script.shift() ?? (typeof otherwise === 'function' ? otherwise(body) : otherwise))
    if (reply.silent) return
    if (reply.delayMs) await after(reply.delayMs)
    if (reply.hold?.after === 0) await reply.hold.until
    if (response.destroyed) return
    if (reply.status !== undefined) {
      const error = { message: 'scripted', type: 'server_error', code: 'scripted_failure' }
      response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers })
      response.end(reply.raw ?? JSON.stringify({ error }))
      return
    }
    if (isEmbedding) {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(reply.raw ?? JSON.stringify(embeddingsOf(body.input)))
      return
    }
    if (body.stream) {
      await stream(response, reply, body.model)
      return
    }
    response.writeHead(200, { 'content-type': 'application/json', ...reply.headers })
    response.end(reply.raw ?? JSON.stringify(completionOf(reply, body.model)))
  })
  let connections = 0
  server.on('connection', () => {
    connections++
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  return {
    /** As configured: `http://127.0.0.1:<port>/v1`. */
    url: `http://127.0.0.1:${port}/v1`,
    /** Every request so far. */
    requests,
    /** How many were ever opened. */
    connections: () => connections,
    /** What the next requests get, in order. */
    next(...replies: Reply[]) {
      script.push(...replies)
    },
    /** What the next requests for embeddings get, in order. */
    nextEmbedding(...replies: Reply[]) {
      embedScript.push(...replies)
    },
    /** What every request for embeddings gets, from now on. */
    embeddings(reply: Reply) {
      embedOtherwise = reply
    },
    /** The texts that were to be embedded, by request. */
    embedded: (): string[][] =>
      requests
        .filter(({ path }) => path.endsWith('/embeddings'))
        .map(({ body }) => body.input as string[]),
    /** Resolves when so many requests have come in all. */
    async received(count: number): Promise<void> {
      if (requests.length >= count) return
      await new Promise<void>((seen) => arrivals.push({ count, seen }))
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
