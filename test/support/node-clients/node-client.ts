import { z } from 'zod'

/** Where a client finds the server, and with which key. */
export type At = { baseURL: string; apiKey: string }

/** What a client's tool does when it is called. */
export type Weather = (city: string) => string

/** What every stock client can do, in its own way and unmodified. */
export type NodeClient = {
  whole(question: string): Promise<string>
  streamed(question: string): AsyncIterable<string>
  /** Until the model calls no more tools; answers its last text. */
  loop(question: string, weather: Weather, streamed: boolean): Promise<string>
  /** A structured answer. */
  person(question: string): Promise<unknown>
  /** A question about a picture. */
  picture(question: string, bytes: Buffer): Promise<string>
}

export const model = 'svc-orchestrator'

export const person = z.object({ name: z.string(), age: z.number() })

/** The tool that every client brings along, its arguments as JSON Schema. */
export const weatherTool = {
  name: 'get_weather',
  description: 'The weather in a city',
  parameters: {
    type: 'object' as const,
    properties: { city: { type: 'string' as const } },
    required: ['city'],
    additionalProperties: false,
  },
}

/** Many more than a loop may take. */
export const mostSteps = 5
