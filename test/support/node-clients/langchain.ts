import { type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { dataUrl } from '../media.ts'
import { type At, model, mostSteps, type NodeClient, person, weatherTool } from './node-client.ts'

const langchain = ({ apiKey, baseURL }: At, useResponsesApi: boolean): NodeClient => {
  // It repeats every 500, also where `x-should-retry` says that this is no use.
  const settings = { maxRetries: 0, useResponsesApi }
  const chat = new ChatOpenAI({ model, apiKey, configuration: { baseURL }, ...settings })
  return {
    async whole(question) {
      return (await chat.invoke(question)).text
    },
    async *streamed(question) {
      for await (const chunk of await chat.stream(question)) yield chunk.text
    },
    async loop(question, weather, streamed) {
      const { name, description, parameters: schema } = weatherTool
      const own = tool(({ city }) => weather(city), { name, description, schema })
      const bound = chat.bindTools([own])
      const messages: BaseMessage[] = [new HumanMessage(question)]
      for (let step = 0; step < mostSteps; step++) {
        let reply = streamed ? undefined : await bound.invoke(messages)
        if (streamed)
          for await (const chunk of await bound.stream(messages))
            reply = reply?.concat(chunk) ?? chunk
        const calls = reply?.tool_calls ?? []
        if (!reply || calls.length === 0) return reply?.text ?? ''
        messages.push(reply)
        for (const { id = '', args } of calls)
          messages.push(new ToolMessage({ content: weather(args.city), tool_call_id: id }))
      }
      throw new Error('the loop did not end')
    },
    async person(question) {
      const settings = { method: 'jsonSchema', name: 'person' } as const
      return await chat.withStructuredOutput(person, settings).invoke(question)
    },
    async picture(question, bytes) {
      const content = [
        { type: 'text', text: question },
        { type: 'image_url', image_url: { url: dataUrl('image/png', bytes) } },
      ]
      return (await chat.invoke([new HumanMessage({ content })])).text
    },
  }
}

export const langchainChat = (at: At): NodeClient => langchain(at, false)

export const langchainResponses = (at: At): NodeClient => langchain(at, true)
