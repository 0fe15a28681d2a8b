import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { tool as langchainTool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai'
import OpenAI from 'openai'
import t, { type Test } from 'tap'
import { startApp, startChat } from '../../support/server.ts'

const question = 'get_weather city=Paris'
const answer = 'get_weather answered: 18 degrees'
const schema = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const } },
  required: ['city'],
}
const description = 'The weather in a city'

const startOffline = async (t: Test) => {
  const server = await startApp(t)
  const organization = await server.platform.organization()
  const key = await organization.key()
  const baseURL = `${server.url}/api/external/v1`
  return { apiKey: key.key, baseURL, key }
}

t.test('the openai package: runTools, whole and streamed', async (t) => {
  const { key, ...settings } = await startOffline(t)
  const client = new OpenAI(settings)
  const cities: string[] = []
  const ask = {
    model: 'svc-orchestrator',
    messages: [{ role: 'user' as const, content: question }],
    tools: [
      {
        type: 'function' as const,
        function: {
          name: 'get_weather',
          description,
          parameters: schema,
          parse: JSON.parse,
          function: ({ city }: { city: string }) => {
            cities.push(city)
            return '18 degrees'
          },
        },
      },
    ],
  }
  t.equal(await client.chat.completions.runTools(ask).finalContent(), answer)
  const streamed = client.chat.completions.runTools({ ...ask, stream: true })
  t.equal(await streamed.finalContent(), answer)
  t.strictSame(cities, ['Paris', 'Paris'])
  t.equal((await key.sessions()).body.total, 2, 'a loop stays in its session')
})

t.test('the openai package: .stream() puts the calls together', async (t) => {
  const { key, server, provider } = await startChat(t)
  const calls = ['Paris', 'Rome'].map((city) => ({ name: 'get_weather', arguments: { city } }))
  provider.next({ text: 'Wait.', calls })
  const baseURL = `${server.url}/api/external/v1`
  const client = new OpenAI({ apiKey: key.key, baseURL })
  const stream = client.chat.completions.stream({
    model: 'svc-orchestrator',
    messages: [{ role: 'user', content: 'Hi' }],
    tools: [{ type: 'function', function: { name: 'get_weather', parameters: schema } }],
  })
  const { choices } = await stream.finalChatCompletion()
  t.match(choices, [
    {
      finish_reason: 'tool_calls',
      message: { content: 'Wait.', tool_calls: calls.map(({ name }) => ({ function: { name } })) },
    },
  ])
  t.strictSame(
    choices[0]?.message.tool_calls?.map((call) =>
      call.type === 'function' ? JSON.parse(call.function.arguments) : undefined,
    ),
    [{ city: 'Paris' }, { city: 'Rome' }],
  )
  t.equal(provider.requests.length, 1)
})

t.test('the AI SDK: tools in several steps, whole and streamed', async (t) => {
  const { key: _, ...settings } = await startOffline(t)
  const provider = createOpenAICompatible({ name: 'reprise', ...settings })
  const ask = {
    model: provider('svc-orchestrator'),
    prompt: question,
    stopWhen: stepCountIs(4),
    tools: {
      get_weather: tool({
        description,
        inputSchema: jsonSchema<{ city: string }>(schema),
        execute: async ({ city }) => (city === 'Paris' ? '18 degrees' : 'unknown'),
      }),
    },
  }
  const complete = await generateText(ask)
  t.equal(complete.text, answer)
  t.equal(complete.steps.length, 2)
  t.equal(await streamText(ask).text, answer)
})

t.test('LangChain: a call, its result, the answer', async (t) => {
  const { key: _, apiKey, baseURL } = await startOffline(t)
  const weather = langchainTool(async () => '18 degrees', {
    name: 'get_weather',
    description,
    schema,
  })
  const model = new ChatOpenAI({
    model: 'svc-orchestrator',
    apiKey,
    configuration: { baseURL },
  }).bindTools([weather])
  const message = new HumanMessage(question)
  const called = await model.invoke([message])
  t.match(called.tool_calls, [{ name: 'get_weather', args: { city: 'Paris' } }])
  const result = new ToolMessage({
    content: '18 degrees',
    tool_call_id: called.tool_calls?.[0]?.id ?? '',
  })
  t.equal((await model.invoke([message, called, result])).content, answer)
})
