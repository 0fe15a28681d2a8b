import { Observable } from 'rxjs'
import { piecesIn, piecesOfAll } from '../../agents/tokens.ts'
import type { ChatMessage, FinishReason, Model, ModelRequest } from '../../ports/model.ts'
import { cutText } from '../../support/cut-text.ts'
import { answerFrom } from './offline-answers.ts'
import { limitedText } from './offline-length.ts'
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

const questionIn = (messages: readonly ChatMessage[]) => {
  const question = messages.findLast(({ role }) => role === 'user')
  return {
    message: cutText(question?.content ?? '', longestMessage).trim(),
    parts: question?.role === 'user' ? (question.parts ?? []) : [],
  }
}

/** In a format, the smallest answer that fits it; its first free text quotes the message. */
const inFormat = (say: string, message: string, { format }: ModelRequest): string => {
  if (!format) return say
  const schema = format.type === 'json_object' ? quoting : format.schema
  return JSON.stringify(smallestValue(schema, {}, shortened(message, longestQuote)))
}

/** What it says, or the tool that it calls. */
const answerTo = (request: ModelRequest) => {
  const { messages, tools = [], toolChoice } = request
  const { message, parts } = questionIn(messages)
  const plan =
    messages.at(-1)?.role === 'tool'
      ? { say: answerFrom(messages, message) }
      : planned({ message, parts, tools, toolChoice })
  if ('say' in plan) return limitedText(inFormat(plan.say, message, request), request)
  const { name, args } = plan
  return { call: { id: `call_${messages.length}`, name, arguments: JSON.stringify(args) } }
}

/**
 * `offline/extractive`: deterministic, no network, no waiting
 * (docs/contract/models.md#the-offline-model). It gets what any model gets, and decides by the
 * offered tools. It emits its answer synchronously until the subscriber leaves: word by word, or
 * buffered in one piece.
 */
export const offlineModel = (): Model => ({
  stream: (request, isBuffered = false) =>
    new Observable((subscriber) => {
      const answer = answerTo(request)
      const promptTokens = piecesOfAll(request.messages)
      let finishReason: FinishReason = 'tool_calls'
      let completionTokens: number
      if ('text' in answer) {
        const { text } = answer
        if (isBuffered) subscriber.next({ type: 'text', text: text.trimStart() })
        else
          for (const piece of text.match(word) ?? []) {
            if (subscriber.closed) return
            subscriber.next({ type: 'text', text: piece })
          }
        finishReason = answer.finishReason
        completionTokens = piecesIn(text)
      } else {
        const { call } = answer
        subscriber.next({ type: 'tool_call', call })
        completionTokens = piecesIn(call.name) + piecesIn(call.arguments)
      }
      const usage = { promptTokens, completionTokens }
      subscriber.next({ type: 'done', finishReason, usage })
      subscriber.complete()
    }),
})
