import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import {
  generateObject,
  generateText,
  jsonSchema,
  type LanguageModel,
  stepCountIs,
  streamText,
  tool,
} from 'ai'
import { type At, model, mostSteps, type NodeClient, person, weatherTool } from './node-client.ts'

// It repeats every 500, also where `x-should-retry` says that this is no use.
const maxRetries = 0

const aiSdk = (languageModel: LanguageModel): NodeClient => ({
  async whole(prompt) {
    return (await generateText({ model: languageModel, prompt, maxRetries })).text
  },
  async *streamed(prompt) {
    const failed: unknown[] = []
    const { fullStream } = streamText({
      model: languageModel,
      prompt,
      onError: ({ error }) => {
        failed.push(error)
      },
    })
    for await (const part of fullStream) if (part.type === 'text-delta') yield part.text
    if (failed.length > 0) throw failed[0]
  },
  async loop(prompt, weather, streamed) {
    const ask = {
      model: languageModel,
      prompt,
      stopWhen: stepCountIs(mostSteps),
      tools: {
        get_weather: tool({
          description: weatherTool.description,
          inputSchema: jsonSchema<{ city: string }>(weatherTool.parameters),
          execute: async ({ city }) => weather(city),
        }),
      },
    }
    return streamed ? await streamText(ask).text : (await generateText(ask)).text
  },
  async person(prompt) {
    return (await generateObject({ model: languageModel, schema: person, prompt })).object
  },
  async picture(question, bytes) {
    const content = [
      { type: 'text' as const, text: question },
      { type: 'image' as const, image: bytes, mediaType: 'image/png' },
    ]
    const messages = [{ role: 'user' as const, content }]
    return (await generateText({ model: languageModel, messages })).text
  },
})

/** The AI SDK with its provider for OpenAI, by chat completions. */
export const aiSdkChat = (at: At): NodeClient => aiSdk(createOpenAI(at).chat(model))

/** The AI SDK with its provider for OpenAI as it is used by default: by responses. */
export const aiSdkResponses = (at: At): NodeClient => aiSdk(createOpenAI(at)(model))

/** The AI SDK with its provider for all that resembles OpenAI. */
export const aiSdkCompatible = (at: At): NodeClient =>
  aiSdk(createOpenAICompatible({ name: 'reprise', supportsStructuredOutputs: true, ...at })(model))
