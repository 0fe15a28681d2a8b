import { z } from 'zod'
import { errorPrefix } from '../../agents/tool.ts'
import type { ChatMessage, ToolCall } from '../../ports/model.ts'
import { bm25, languagesOf } from '../../support/bm25.ts'
import { closing, quoted, shortened } from './offline-words.ts'

type ToolMessage = Extract<ChatMessage, { role: 'tool' }>
type Writer = (content: string, question: string, call: ToolCall | undefined) => string

const passages = z.object({
  results: z.array(
    z.object({ filename: z.string(), place: z.string().optional(), text: z.string() }),
  ),
})
const memories = z.object({
  memories: z.array(z.union([z.string(), z.object({ text: z.string() }).transform((m) => m.text)])),
})
const remembered = z.object({ text: z.string() })
const generation = z.object({ id: z.string(), content_type: z.string(), status: z.string() })

const bestPassages = 3
const longestPassage = 400
const longestOutput = 4000
const sentence = /[^\p{M}.!?。！？\n][^.!?。！？\n]*(?:[.!?。！？]+\p{M}*|\n|$)/gu
const spaces = /\s+/g

const read = <T>(schema: z.ZodType<T>, text: string): T | undefined => {
  try {
    return schema.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** The part of a passage that begins with the sentence that fits the question best. */
const extract = (text: string, question: string): string => {
  const passage = text.replace(spaces, ' ').trim()
  if (passage.length <= longestPassage) return passage
  const languages = languagesOf(passage)
  const sentences = bm25()
  const starts = Array.from(passage.matchAll(sentence), ({ 0: part, index }) => {
    sentences.add(part, languages)
    return index
  })
  const [best] = sentences.search(question, 1)
  return shortened(passage.slice(starts[best?.document ?? 0]).trim(), longestPassage)
}

const nothingFound = 'I found nothing about that in the knowledge base.'

const writers: Readonly<Record<string, Writer>> = {
  search_knowledge: (content, question) => {
    const answer = read(passages, content)
    if (!answer) return `The knowledge base answered: ${shortened(content, longestOutput)}`
    if (answer.results.length === 0) return [nothingFound, closing(question)].join(' ').trim()
    const quotes = answer.results.slice(0, bestPassages).map(({ filename, place, text }) => {
      const source = place ? `${filename}, ${place}` : filename
      return `“${extract(text, question)}” (${source})`
    })
    return `From the knowledge base:\n\n${quotes.join('\n\n')}`
  },
  recall: (content) => {
    const facts = read(memories, content)?.memories
    if (!facts) return `I remember: ${shortened(content, longestOutput)}`
    if (facts.length === 0) return 'I remember nothing about you yet.'
    return `I remember:\n${facts.map((text) => `- ${text}`).join('\n')}`
  },
  remember: (content, _, call) => {
    const text = read(remembered, call?.arguments ?? '')?.text
    return text ? `I will remember that: ${quoted(text)}.` : content
  },
  generate_content: (content) => {
    const result = read(generation, content)
    return result
      ? `Your ${result.content_type} is on its way: content ${result.id} is ${result.status}.`
      : `The content was requested: ${shortened(content, longestOutput)}`
  },
}

const answerOf = (
  { name, content, toolCallId }: ToolMessage,
  question: string,
  calls: ToolCall[],
) => {
  if (content.startsWith(errorPrefix))
    return `${name} did not work: ${shortened(content.slice(errorPrefix.length), longestOutput)}.`
  const writer = Object.hasOwn(writers, name) ? writers[name] : undefined
  const call = calls.find(({ id }) => id === toolCallId)
  if (writer) return writer(content, question, call)
  return content.trim() === ''
    ? `${name} answered with nothing.`
    : `${name} answered: ${shortened(content, longestOutput)}`
}

/** The answer to a message from the results of the tools called for it. */
export const answerFrom = (messages: readonly ChatMessage[], question: string): string => {
  const last = messages.findLastIndex(({ role }) => role !== 'tool')
  const request = messages[last]
  const calls = request?.role === 'assistant' ? [...(request.toolCalls ?? [])] : []
  return messages
    .slice(last + 1)
    .filter((message) => message.role === 'tool')
    .map((message) => answerOf(message, question, calls))
    .join('\n\n')
}
