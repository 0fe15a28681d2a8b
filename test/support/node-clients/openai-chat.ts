import OpenAI from 'openai'
import { zodResponseFormat } from 'openai/helpers/zod'
import { dataUrl } from '../media.ts'
import {
  type At,
  model,
  type NodeClient,
  person,
  type Weather,
  weatherTool,
} from './node-client.ts'

const user = (content: string) => [{ role: 'user' as const, content }]

const runnable = (weather: Weather) => ({
  type: 'function' as const,
  function: {
    ...weatherTool,
    parse: JSON.parse,
    function: ({ city }: { city: string }) => weather(city),
  },
})

/** The `openai` package with chat completions. */
export const openaiChat = (at: At): NodeClient => {
  const { completions } = new OpenAI(at).chat
  return {
    async whole(question) {
      const { choices } = await completions.create({ model, messages: user(question) })
      return choices[0]?.message.content ?? ''
    },
    async *streamed(question) {
      const ask = { model, messages: user(question), stream: true } as const
      for await (const { choices } of await completions.create(ask))
        yield choices[0]?.delta.content ?? ''
    },
    async loop(question, weather, streamed) {
      const ask = { model, messages: user(question), tools: [runnable(weather)] }
      const running = streamed
        ? completions.runTools({ ...ask, stream: true })
        : completions.runTools(ask)
      return (await running.finalContent()) ?? ''
    },
    async person(question) {
      const response_format = zodResponseFormat(person, 'person')
      const ask = { model, messages: user(question), response_format }
      return (await completions.parse(ask)).choices[0]?.message.parsed
    },
    async picture(question, bytes) {
      const content = [
        { type: 'text' as const, text: question },
        { type: 'image_url' as const, image_url: { url: dataUrl('image/png', bytes) } },
      ]
      const stream = completions.stream({ model, messages: [{ role: 'user', content }] })
      return (await stream.finalContent()) ?? ''
    },
  }
}
