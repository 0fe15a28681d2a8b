import { EventSourceParserStream } from 'eventsource-parser/stream'
import { faultAnswer, type McpRequest, regular, responds } from './mcp-answers.ts'

/** An answer that exceeds what is read of it. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge'
}

/** Characters of a content type that are shown. */
const longestType = 100

const cutOff = 'its answer was cut off'
const notJson = 'its answer is not JSON'

/** Why the body of an answer ended early. */
const endOf = (error: unknown): string =>
  error instanceof AnswerTooLarge ? 'the answer is too large' : cutOff

const parsed = (json: string): { value: unknown } | undefined => {
  try {
    return { value: JSON.parse(json) }
  } catch {
    return undefined
  }
}

/** What the protocol's package needs of an answer. It is parsed already: it may be large. */
const answerWith = (messages: readonly object[], sent?: Headers): Response => {
  const session = sent?.get('mcp-session-id')
  const sessionHeader = session ? { 'mcp-session-id': session } : {}
  const headers = { 'content-type': 'application/json', ...sessionHeader }
  return Object.assign(new Response(null, { headers }), { json: async () => messages })
}

/** An answer in the place of one that cannot be read: an error that says why. */
export const faultResponse = (request: McpRequest, fault: string): Response =>
  answerWith([faultAnswer(request, fault)])

const noAnswer = (status: number): string =>
  status === 200 ? 'its answer is empty' : `it answered HTTP ${status}, without a response`

const jsonAnswer = async (response: Response, request: McpRequest): Promise<Response> => {
  let text: string
  try {
    text = await response.text()
  } catch (error) {
    return faultResponse(request, endOf(error))
  }
  if (text.trim() === '') return faultResponse(request, noAnswer(response.status))
  const json = parsed(text)
  if (!json) return faultResponse(request, notJson)
  const messages = regular(json.value, request)
  return responds(messages)
    ? answerWith(messages, response.headers)
    : faultResponse(request, 'its answer is no response')
}

/** What an answer is for. */
type Purpose = {
  /** Absent in a stream that resumes the answer to an earlier request. */
  request?: McpRequest | undefined
  /** The stream has no place to go on from: it is opened again from its start. */
  forNotices?: boolean
  /** The stream has ended, or was not opened. */
  ended?(): void
}

/**
 * The events of a stream in their regular form. What is not JSON is dropped. A stream that ends
 * without a response to its request, and cannot be opened again, gets an error for it.
 */
async function* regularEvents(
  body: ReadableStream<Uint8Array>,
  { request, forNotices }: Purpose,
): AsyncGenerator<string> {
  let fault = cutOff
  let retry = ''
  let responded = false
  let resumable = false
  const onRetry = (ms: number) => {
    retry = `retry: ${ms}\n`
  }
  const texts = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
  const events = texts.pipeThrough(new EventSourceParserStream({ onRetry }))
  try {
    for await (const { event = 'message', data, ...sent } of events) {
      const id = forNotices ? undefined : sent.id
      const json = event === 'message' && data !== '' ? parsed(data) : undefined
      if (!json && data !== '') fault = notJson
      const messages = json ? regular(json.value, request) : []
      responded ||= responds(messages)
      resumable ||= id !== undefined && id !== ''
      const lines = [...messages.map((message) => JSON.stringify(message)), ...(id ? [''] : [])]
      for (const line of lines) {
        yield `${retry}${id ? `id: ${id}\n` : ''}data: ${line}\n\n`
        retry = ''
      }
    }
  } catch (error) {
    if (responded || resumable) throw error
    fault = endOf(error)
  }
  if (request && !responded && !resumable)
    yield `data: ${JSON.stringify(faultAnswer(request, fault))}\n\n`
}

const streamAnswer = ({ body, headers }: Response, purpose: Purpose): Response => {
  async function* events(): AsyncGenerator<string> {
    try {
      if (body) yield* regularEvents(body, purpose)
    } finally {
      purpose.ended?.()
    }
  }
  const bytes = ReadableStream.from(events()).pipeThrough(new TextEncoderStream())
  return new Response(bytes, { headers })
}

/** A media type without its parameters. */
const typeOf = ({ headers }: Response): string =>
  (headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''

const discard = async (response: Response): Promise<void> => {
  await response.body?.cancel()
}

/** A server's answer in its regular form. What cannot be read becomes an error for the request. */
export const regularResponse = async (response: Response, purpose: Purpose): Promise<Response> => {
  const { request } = purpose
  const type = typeOf(response)
  if (response.ok && type === 'text/event-stream') return streamAnswer(response, purpose)
  purpose.ended?.()
  if (!response.ok || !request) return response
  if (/\bjson\b/.test(type)) return jsonAnswer(response, request)
  await discard(response)
  if (response.status !== 200) return faultResponse(request, noAnswer(response.status))
  const words = type === '' ? 'without a content type' : `with ${type.slice(0, longestType)}`
  return faultResponse(request, `it answered ${words}, not with JSON or an event stream`)
}
