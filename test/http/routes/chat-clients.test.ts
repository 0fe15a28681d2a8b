import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { ChatOpenAI } from '@langchain/openai'
import { generateText, streamText } from 'ai'
import OpenAI, { APIError } from 'openai'
import t from 'tap'
import { held } from '../../support/held.ts'
import { startChat } from '../../support/server.ts'

const text = 'Hello from the double.'
const usage = { prompt_tokens: 7, completion_tokens: 5 }

/** The openai package, which repeats up to three times; `sent` counts its requests. */
const openAi = ({ url }: { url: string }, { key }: { key: string }) => {
  let sent = 0
  const client = new OpenAI({
    apiKey: key,
    baseURL: `${url}/api/external/v1`,
    maxRetries: 3,
    fetch: (address, init) => {
      sent++
      return fetch(address, init)
    },
  })
  return { client, sent: () => sent }
}

t.test('the AI SDK, whole and streamed', async (t) => {
  const { key, server } = await startChat(t, { text, usage })
  const provider = createOpenAICompatible({
    name: 'reprise',
    apiKey: key.key,
    baseURL: `${server.url}/api/external/v1`,
    includeUsage: true,
  })
  const ask = { model: provider('svc-orchestrator'), prompt: 'Hi' }
  t.equal((await generateText(ask)).text, text)
  const types: string[] = []
  const streamed = streamText(ask)
  for await (const part of streamed.fullStream) types.push(part.type)
  t.notOk(types.includes('error'), 'no lifecycle event becomes an error part')
  t.equal(await streamed.text, text)
  t.equal(await streamed.finishReason, 'stop')
  t.match(await streamed.usage, { inputTokens: 7, outputTokens: 5 })
})

t.test('LangChain, whole and streamed', async (t) => {
  const { key, server } = await startChat(t, { text, usage })
  const model = new ChatOpenAI({
    model: 'svc-orchestrator',
    apiKey: key.key,
    configuration: { baseURL: `${server.url}/api/external/v1` },
  })
  t.equal((await model.invoke('Hi')).content, text)
  let streamedText = ''
  for await (const chunk of await model.stream('Hi')) streamedText += chunk.content
  t.equal(streamedText, text)
})

t.test('the openai package does not repeat what the provider will refuse again', async (t) => {
  const { key, server, provider, organization } = await startChat(t)
  const { client, sent } = openAi(server, key)
  const ask = { model: 'svc-orchestrator', messages: [{ role: 'user' as const, content: 'Hi' }] }
  const failure = async (request: Promise<unknown>) => {
    const error = await request.then(
      () => undefined,
      (error: unknown) => error,
    )
    if (!(error instanceof APIError)) throw error
    return { status: error.status, code: error.code }
  }
  const streamed = async () => {
    for await (const _ of await client.chat.completions.create({ ...ask, stream: true }));
  }
  for (const status of [400, 401, 403, 404])
    for (const [how, call, expected] of [
      ['whole', () => client.chat.completions.create(ask), 500],
      ['streamed', streamed, undefined],
    ] as const) {
      const before = { sent: sent(), asked: provider.requests.length }
      provider.next({ status })
      t.strictSame(
        await failure(call()),
        { status: expected, code: 'model_misconfigured' },
        `${status}, ${how}`,
      )
      t.equal(sent() - before.sent, 1, 'the client asks us once')
      t.equal(provider.requests.length - before.asked, 1, 'we ask the provider once')
    }

  const { events } = await server.platform.ask(
    'GET',
    `/organizations/${organization.organizationId}/audit/events?type=RunFailed`,
  )
  t.equal(events.length, 8)
  t.match(events.at(-1).data, {
    code: 'model_misconfigured',
    cause: 'the model provider answered 404 (scripted_failure)',
  })
})

t.test('the openai package raises that a turn was cancelled, and does not repeat it', async (t) => {
  const { key, server, provider } = await startChat(t)
  const { client, sent } = openAi(server, key)
  const ask = { model: 'svc-orchestrator', messages: [{ role: 'user' as const, content: 'Hi' }] }
  const complete = async (session_id: string) => {
    await client.chat.completions.create({ ...ask, session_id } as typeof ask)
  }
  const streamed = async (session_id: string) => {
    const body = { ...ask, session_id, stream: true as const }
    for await (const _ of await client.chat.completions.create(body));
  }
  for (const [how, call, status] of [
    ['whole', complete, 409],
    ['streamed', streamed, undefined],
  ] as const) {
    const count = provider.requests.length + 1
    provider.next(held().reply)
    const failed = t.rejects(call(how), { status, code: 'turn_cancelled' }, how)
    await provider.received(count)
    await key.cancel(how)
    await failed
  }
  t.equal(sent(), 2)
})
