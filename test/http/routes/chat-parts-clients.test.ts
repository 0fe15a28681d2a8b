import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { HumanMessage } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import { generateText } from 'ai'
import OpenAI from 'openai'
import t from 'tap'
import { audioPart, dataUrl, filePart, imagePart, png, textPart } from '../../support/media.ts'
import { startChat } from '../../support/server.ts'

const env = { LLM_MODALITIES: '{"test/*":["image","audio","file"]}' }
const url = dataUrl('image/png', png())
const model = 'svc-orchestrator'

t.test('stock clients send pictures, sounds and files, unmodified', async (t) => {
  const { key, server, provider } = await startChat(t, undefined, {}, env)
  const baseURL = `${server.url}/api/external/v1`
  const received = () => provider.requests.at(-1)?.body.messages.at(-1)?.content

  const openai = new OpenAI({ apiKey: key.key, baseURL })
  const content = [textPart('What is this?'), imagePart(), audioPart(), filePart()]
  await openai.chat.completions.create({ model, messages: [{ role: 'user', content }] })
  t.strictSame(received(), content, 'openai, whole')
  const streamed = openai.chat.completions.stream({ model, messages: [{ role: 'user', content }] })
  await streamed.finalContent()
  t.strictSame(received(), content, 'openai, streamed')
  await openai.chat.completions.create({
    model,
    messages: [
      { role: 'user', content },
      { role: 'assistant', content: 'A square.' },
      { role: 'user', content: 'Are you sure?' },
    ],
  })
  const history = provider.requests.at(-1)?.body.messages.slice(-3) ?? []
  t.strictSame(history[0]?.content, content, 'a history that the client keeps')

  const ai = createOpenAICompatible({ name: 'reprise', apiKey: key.key, baseURL })
  await generateText({
    model: ai(model),
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'And this?' },
          { type: 'image', image: png(), mediaType: 'image/png' },
        ],
      },
    ],
  })
  t.match(received(), [textPart('And this?'), { type: 'image_url', image_url: { url } }], 'AI SDK')

  const chat = new ChatOpenAI({ model, apiKey: key.key, configuration: { baseURL } })
  await chat.invoke([
    new HumanMessage({
      content: [
        { type: 'text', text: 'And that?' },
        { type: 'image_url', image_url: { url, detail: 'low' } },
      ],
    }),
  ])
  t.match(
    received(),
    [textPart('And that?'), { type: 'image_url', image_url: { url, detail: 'low' } }],
    'LangChain',
  )
  const response = await openai.responses.create({
    model,
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Here?' },
          { type: 'input_image', image_url: url, detail: 'auto' },
        ],
      },
    ],
  })
  t.equal(response.output_text, 'Hello from the double.')
  t.match(received(), [textPart('Here?'), { type: 'image_url', image_url: { url } }], 'responses')
})

t.test('a repeated request is answered once, its files kept once', async (t) => {
  const { key, provider } = await startChat(t, undefined, {}, env)
  const messages = [{ role: 'user', content: [imagePart()] }]
  const headers = { 'idempotency-key': 'once' }
  const first = await key.chat({ messages }, { headers })
  const again = await key.chat({ messages }, { headers })
  t.strictSame(again.body, first.body)
  t.equal(provider.requests.length, 1)
  const other = [{ role: 'user', content: [imagePart(png(1, 2))] }]
  t.match(await key.chat({ messages: other }, { headers }), { status: 409 }, 'files count')
})
