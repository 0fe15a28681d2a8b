import { lastValueFrom, toArray } from 'rxjs'
import type { Test } from 'tap'
import { type OpenAiOptions, openAiModel } from '../../src/adapters/models/openai.ts'
import type { ModelEvent, ModelRequest, ToolCall } from '../../src/ports/model.ts'
import { providerDouble, type Reply } from './provider-double.ts'

/** A chunk of a chat completion stream with one choice. */
export const chunk = (delta: unknown, finish_reason: unknown = null, more: object = {}) => ({
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason }],
  ...more,
})

export const endsWith = (reason: unknown, more?: object) => chunk({}, reason, more)

/** Chunks as an event stream, with its end mark. */
export const sse = (...chunks: readonly unknown[]): string =>
  [...chunks.map((value) => JSON.stringify(value)), '[DONE]']
    .map((data) => `data: ${data}\n\n`)
    .join('')

const hi: ModelRequest = { model: 'gpt-test', messages: [{ role: 'user', content: 'Hi' }] }

/** A model whose provider gives these replies in order. */
export const modelOf = async (t: Test, replies: Reply[], options: Partial<OpenAiOptions> = {}) => {
  const provider = await providerDouble()
  const model = openAiModel({ baseUrl: provider.url, backOffMs: 1, ...options })
  t.teardown(async () => {
    await model.close()
    await provider.close()
  })
  provider.next(...replies)
  const ask = (request = hi): Promise<ModelEvent[]> =>
    lastValueFrom(model.stream(request).pipe(toArray()))
  return { model, ask, requests: provider.requests, requestCount: () => provider.requests.length }
}

/** The events of a model for one reply. */
export const modelEvents = async (t: Test, reply: Reply): Promise<ModelEvent[]> =>
  (await modelOf(t, [reply])).ask()

export const callsIn = (events: readonly ModelEvent[]): ToolCall[] =>
  events.flatMap((event) => (event.type === 'tool_call' ? [event.call] : []))

export const textIn = (events: readonly ModelEvent[]): string =>
  events.map((event) => (event.type === 'text' ? event.text : '')).join('')
