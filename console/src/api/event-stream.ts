import { EventSourceParserStream } from 'eventsource-parser/stream'
import { send } from './client.ts'

export type StreamItem = { id: string | undefined; event: string | undefined; data: string }

/**
 * The items of an event stream until it ends or is aborted. Resumes nothing by itself: the caller
 * sends the last id as `Last-Event-ID` when it connects again. `onOpen`: the server accepted it.
 * @throws ApiError
 */
export async function* eventStream(
  path: string,
  init: RequestInit = {},
  onOpen?: () => void,
): AsyncGenerator<StreamItem> {
  const headers = new Headers(init.headers)
  headers.set('accept', 'text/event-stream')
  const { body } = await send(path, { ...init, headers })
  onOpen?.()
  if (!body) return
  const reader = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array<ArrayBuffer>>)
    .pipeThrough(new EventSourceParserStream())
    .getReader()
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const { id, event, data } = next.value
      if (data === '[DONE]') return
      yield { id, event, data }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
