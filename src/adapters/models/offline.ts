import { Observable } from 'rxjs'
import { piecesIn, piecesOfAll } from '../../agents/tokens.ts'
import type { ChatMessage, Model, ModelEvent, ModelRequest } from '../../ports/model.ts'
import { answerFrom } from './offline-answers.ts'
import { saidOf } from './offline-length.ts'
import { planned } from './offline-rules.ts'
import { longestQuote, shortened } from './offline-words.ts'
import { smallestValue } from './smallest-value.ts'

const word = /\S+\s*/g

/** Of a JSON object without a schema. */
const quoting = {
  type: 'object',
  required: ['message'],
  properties: { message: { type: 'string' } },
}

/** The rules read only this much of a message. */
const longestMessage = 20_000

const askedIn = (messages: readonly ChatMessage[]) => {
  const asked = messages.findLast(({ role }) => role === 'user')
  return {
    message: asked?.content.slice(0, longestMessage).trim() ?? '',
    parts: asked?.role === 'user' ? (asked.parts ?? []) : [],
  }
}

/** In a format, the smallest answer that fits it; its first free text quotes the message. */
const inFormat = (say: string, message: string, { format }: ModelRequest): string => {
  if (!format) return say
  const schema = format.type === 'json_object' ? quoting : format.schema
  return JSON.stringify(smallestValue(schema, {}, shortened(message, longestQuote)))
}

const eventsOf = (request: ModelRequest): ModelEvent[] => {
  const { messages, tools = [], toolChoice } = request
  const { message, parts } = askedIn(messages)
  const plan =
    messages.at(-1)?.role === 'tool'
      ? { say: answerFrom(messages, message) }
      : planned({ message, parts, tools, toolChoice })
  const promptTokens = piecesOfAll(messages)
  if ('say' in plan) {
    const { text, finishReason } = saidOf(inFormat(plan.say, message, request), request)
    const events = (text.match(word) ?? []).map((text): ModelEvent => ({ type: 'text', text }))
    const usage = { promptTokens, completionTokens: piecesIn(text) }
    return [...events, { type: 'done', finishReason, usage }]
  }
  const { name, args } = plan
  const call = { id: `call_${messages.length}`, name, arguments: JSON.stringify(args) }
  const usage = { promptTokens, completionTokens: piecesIn(name) + piecesIn(call.arguments) }
  return [
    { type: 'tool_call', call },
    { type: 'done', finishReason: 'tool_calls', usage },
  ]
}

/**
 * `offline/extractive`: deterministic, no network, no waiting
 * (docs/contract/agents.md#the-offline-model). It gets what any model gets, and decides by the
 * offered tools. It emits its answer word by word, synchronously, until the subscriber leaves.
 */
export const offlineModel = (): Model => ({
  stream: (request) =>
    new Observable((subscriber) => {
      for (const event of eventsOf(request)) {
        if (subscriber.closed) return
        subscriber.next(event)
      }
      subscriber.complete()
    }),
})
