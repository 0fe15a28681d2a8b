import OpenAI from 'openai'
import { zodTextFormat } from 'openai/helpers/zod'
import type { ResponseInput } from 'openai/resources/responses/responses'
import { dataUrl } from '../media.ts'
import { type At, model, mostSteps, type NodeClient, person, weatherTool } from './node-client.ts'

const tools = [{ type: 'function' as const, ...weatherTool, strict: true }]

/** The `openai` package with responses. */
export const openaiResponses = (at: At): NodeClient => {
  const { responses } = new OpenAI(at)
  return {
    async whole(input) {
      return (await responses.create({ model, input })).output_text
    },
    async *streamed(input) {
      for await (const event of await responses.create({ model, input, stream: true })) {
        if (event.type === 'response.output_text.delta') yield event.delta
        if (event.type === 'response.failed') throw new Error(event.response.error?.message)
      }
    },
    async loop(question, weather, streamed) {
      let input: ResponseInput = [{ role: 'user', content: question }]
      let previous: string | undefined
      for (let step = 0; step < mostSteps; step++) {
        const ask = { model, input, tools, ...(previous ? { previous_response_id: previous } : {}) }
        const response = streamed
          ? await responses.stream(ask).finalResponse()
          : await responses.create(ask)
        previous = response.id
        input = response.output.flatMap((item) =>
          item.type === 'function_call'
            ? [
                {
                  type: 'function_call_output' as const,
                  call_id: item.call_id,
                  output: weather(JSON.parse(item.arguments).city),
                },
              ]
            : [],
        )
        if (input.length === 0) return response.output_text
      }
      throw new Error('the loop did not end')
    },
    async person(input) {
      const text = { format: zodTextFormat(person, 'person') }
      return (await responses.parse({ model, input, text })).output_parsed
    },
    async picture(question, bytes) {
      const content = [
        { type: 'input_text' as const, text: question },
        {
          type: 'input_image' as const,
          image_url: dataUrl('image/png', bytes),
          detail: 'auto' as const,
        },
      ]
      return (await responses.create({ model, input: [{ role: 'user', content }] })).output_text
    },
  }
}
