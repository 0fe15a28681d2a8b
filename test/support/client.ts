import { responseFaults } from './open-responses.ts'

/** One item of an event stream: its `id:` line, its data parsed (`[DONE]` as it is). */
export type Frame = {
  id: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field
  data: any
}

type Init = { headers?: Record<string, string>; signal?: AbortSignal }

const completions = '/api/external/v1/chat/completions'

const parsed = (text: string) => {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return text
  }
}

/** The blocks of an event stream, as they are on the wire; a comment is a block of its own. */
export async function* blocksOf(body: AsyncIterable<Uint8Array> | null): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of body ?? []) {
    text += decoder.decode(bytes, { stream: true })
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    yield* blocks
  }
  if (text !== '') throw new Error(`the stream ended inside an item: ${text}`)
}

const frameOf = (block: string): Frame => {
  const fields = /^id: (?<id>[^\n]+)\ndata: (?<data>[^\n]+)$/.exec(block)?.groups
  if (!fields) throw new Error(`not an item with an id and data: ${block}`)
  return {
    id: fields.id ?? '',
    data: fields.data === '[DONE]' ? '[DONE]' : parsed(fields.data ?? ''),
  }
}

export async function* framesOf(body: AsyncIterable<Uint8Array> | null): AsyncGenerator<Frame> {
  for await (const block of blocksOf(body)) if (!block.startsWith(':')) yield frameOf(block)
}

/** The answer's text, as a client puts it together. */
export const textOf = (frames: readonly Frame[]): string =>
  frames.map(({ data }) => data.choices?.[0]?.delta.content ?? '').join('')

export const isToken = ({ data }: Frame): boolean => Boolean(data.choices?.[0]?.delta.content)

/** The lifecycle events of a stream, plain or carried. */
export const eventsOf = (frames: readonly Frame[]) =>
  frames.map(({ data }) => (data.event ? data : data.agent_event)).filter(Boolean)

export const user = (content: string) => [{ role: 'user', content }]

/** What one key asks of a server. */
export const client = (url: string, key: string, own: Record<string, string> = {}) => {
  const send = (method: string, path: string, body: unknown, { headers, signal }: Init = {}) =>
    fetch(new URL(path, url), {
      method,
      headers: {
        'x-api-key': key,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...own,
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    })

  const ask = async (method: string, path: string, body?: unknown, init?: Init) => {
    const reply = await send(method, path, body, init)
    const answer = parsed(await reply.text())
    const faults = answer?.object === 'response' ? responseFaults(answer) : []
    if (faults.length > 0) throw new Error(`not a response: ${faults.join(', ')}`)
    return {
      status: reply.status,
      code: reply.headers.get('x-error-code'),
      headers: reply.headers,
      body: answer,
    }
  }

  const opened = async (method: string, path: string, body: unknown, init?: Init) => {
    const reply = await send(method, path, body, init)
    const frames = framesOf(reply.body)
    return {
      status: reply.status,
      headers: reply.headers,
      reply,
      frames,
      /** The next item that fits, dropping the items before it. */
      async until(fits: (frame: Frame) => boolean): Promise<Frame> {
        for (;;) {
          const { value, done } = await frames.next()
          if (done) throw new Error('the stream ended before the item came')
          if (fits(value)) return value
        }
      },
      async all(): Promise<Frame[]> {
        const all: Frame[] = []
        for await (const frame of frames) all.push(frame)
        return all
      },
    }
  }

  const api = (path: string) => `/api/external${path}`

  return {
    key,
    ask,
    open: opened,
    /** A whole answer, or the refusal. */
    chat: (body: object, init?: Init) => ask('POST', completions, body, init),
    /** A streamed answer. */
    stream: (body: object, init?: Init) =>
      opened('POST', completions, { stream: true, ...body }, init),
    attach: (session: string, init?: Init, query = '') =>
      opened('GET', api(`/sessions/${session}/stream${query}`), undefined, init),
    cancel: (session: string, body?: object) =>
      ask('POST', api(`/sessions/${session}/cancel`), body),
    sessions: (query = '') => ask('GET', api(`/sessions${query}`)),
    messages: (session: string, query = '') =>
      ask('GET', api(`/sessions/${session}/messages${query}`)),
    status: (session: string, query = '') => ask('GET', api(`/sessions/${session}/status${query}`)),
  }
}

export type Client = ReturnType<typeof client>

/** The texts of a session, the oldest first. */
export const contents = async (key: Client, session: string): Promise<string[]> =>
  (await key.messages(session)).body.messages.map(({ content }: { content: string }) => content)
