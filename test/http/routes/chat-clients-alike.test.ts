import t from 'tap'
import { png } from '../../support/media.ts'
import { aiSdkChat, aiSdkCompatible, aiSdkResponses } from '../../support/node-clients/ai-sdk.ts'
import { langchainChat, langchainResponses } from '../../support/node-clients/langchain.ts'
import type { At, NodeClient } from '../../support/node-clients/node-client.ts'
import { openaiChat } from '../../support/node-clients/openai-chat.ts'
import { openaiResponses } from '../../support/node-clients/openai-responses.ts'
import type { Reply } from '../../support/provider-double.ts'
import { startApp, startChat } from '../../support/server.ts'

const clients: Readonly<Record<string, (at: At) => NodeClient>> = {
  'openai, chat': openaiChat,
  'openai, responses': openaiResponses,
  'AI SDK, openai, chat': aiSdkChat,
  'AI SDK, openai, responses': aiSdkResponses,
  'AI SDK, openai-compatible': aiSdkCompatible,
  'LangChain, chat': langchainChat,
  'LangChain, responses': langchainResponses,
}

const atOf = (server: { url: string }, { key }: { key: string }): At => ({
  baseURL: `${server.url}/api/external/v1`,
  apiKey: key,
})

const joined = async (pieces: AsyncIterable<string>) => {
  let text = ''
  for await (const piece of pieces) text += piece
  return text
}

/** Cities that a tool was called for. */
const noted = () => {
  const cities: string[] = []
  const weather = (city: string) => {
    cities.push(city)
    return '18 degrees'
  }
  return { cities, weather }
}

const refusal = [
  { role: 'assistant', content: null, refusal: 'I cannot ' },
  { refusal: 'do that.' },
]
  .map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] }))
  .concat([{ choices: [{ index: 0, delta: { refusal: '' }, finish_reason: 'stop' as never }] }])
  .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
const refused: Reply = { raw: `${refusal.join('')}data: [DONE]\n\n` }
const calls: Reply = { calls: [{ name: 'get_weather', arguments: { city: 'Paris' } }] }
const broken: Reply = { text: 'Half an answer', cutAfter: 2 }

for (const [name, clientAt] of Object.entries(clients)) {
  t.test(`${name}, on the offline model`, async (t) => {
    const server = await startApp(t)
    const key = await (await server.platform.organization()).key()
    const client = clientAt(atOf(server, key))
    const text = await client.whole('Hello there')
    t.match(text, /Hello there/, 'whole')
    t.equal(await joined(client.streamed('Hello there')), text, 'streamed')
    for (const streamed of [false, true]) {
      const { cities, weather } = noted()
      t.match(await client.loop('get_weather city=Paris', weather, streamed), /18 degrees/)
      t.strictSame(cities, ['Paris'], `a loop of tools, streamed: ${streamed}`)
    }
    t.match(await client.person('Who is there?'), { name: /Who is there/, age: Number })
    t.match(await client.picture('What is this?', png(3, 2)), /3\D+2/, 'a picture')
  })

  t.test(`${name}, on a scripted provider`, async (t) => {
    const env = { LLM_MODALITIES: '{"test/*":["image"]}' }
    const { server, key, provider } = await startChat(t, undefined, {}, env)
    const client = clientAt(atOf(server, key))
    let before = 0
    const expectCalls = (count: number, what: string) => {
      t.equal(provider.requests.length - before, count, `${what}: the provider's calls`)
      before = provider.requests.length
    }

    provider.next({ text: 'One two three.' }, { text: 'Four five six.' })
    t.equal(await client.whole('Count'), 'One two three.')
    t.equal(await joined(client.streamed('Count')), 'Four five six.')
    expectCalls(2, 'answers')

    for (const streamed of [false, true]) {
      const { cities, weather } = noted()
      provider.next(calls, { text: 'In Paris: 18 degrees' })
      t.equal(await client.loop('Paris?', weather, streamed), 'In Paris: 18 degrees')
      t.strictSame(cities, ['Paris'], `a loop of tools, streamed: ${streamed}`)
      expectCalls(2, 'a loop')
    }

    provider.next({ text: '{"name":"Ada","age":36}' })
    t.strictSame(await client.person('Who?'), { name: 'Ada', age: 36 })
    expectCalls(1, 'a structured answer')

    provider.next(refused, refused)
    t.equal(await client.whole('Do it'), 'I cannot do that.', 'a refusal is the answer')
    t.equal(await joined(client.streamed('Do it')), 'I cannot do that.')
    expectCalls(2, 'refusals')

    let text = ''
    provider.next(broken)
    const streaming = async () => {
      for await (const piece of client.streamed('Say')) text += piece
    }
    await t.rejects(streaming(), 'a stream that breaks off is an error')
    t.match(text, /^Half/)
    expectCalls(1, 'a stream that breaks off')

    provider.next({ status: 401 })
    await t.rejects(client.whole('Say'), 'a provider that refuses our key')
    expectCalls(1, 'what is refused is not repeated')

    t.type(await client.picture('What is this?', png(3, 2)), 'string')
    t.match(provider.requests.at(-1)?.body.messages.at(-1)?.content, [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url: /^data:image\/png;base64,/ } },
    ])
    expectCalls(1, 'a picture')
  })
}
