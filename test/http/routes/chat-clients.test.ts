import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { ChatOpenAI } from '@langchain/openai'
import { generateText, streamText } from 'ai'
import t from 'tap'
import { startChat } from '../../support/server.ts'

const text = 'Hello from the double.'
const usage = { prompt_tokens: 7, completion_tokens: 5 }

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
  let said = ''
  for await (const chunk of await model.stream('Hi')) said += chunk.content
  t.equal(said, text)
})
