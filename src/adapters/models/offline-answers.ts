import { z } from 'zod'
import { errorPrefix } from '../../agents/tool.ts'
import type { ChatMessage, ToolCall } from '../../ports/model.ts'
import { bm25, languagesOf } from '../../support/bm25.ts'
import { closing, quoted, shortened } from './offline-words.ts'

type ToolMessage = Extract<ChatMessage, { role: 'tool' }>
type Writer = (content: string, asked: string, call: ToolCall | undefined) => string

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
const extract = (text: string, asked: string): string => {
  const whole = text.replace(spaces, ' ').trim()
  if (whole.length <= longestPassage) return whole
  const languages = languagesOf(whole)
  const sentences = bm25()
  const starts = Array.from(whole.matchAll(sentence), ({ 0: part, index }) => {
    sentences.add(part, languages)
    return index
  })
  const [best] = sentences.search(asked, 1)
  return shortened(whole.slice(starts[best?.document ?? 0]).trim(), longestPassage)
}

const nothingFound = 'I found nothing about that in the knowledge base.'

const writers: Readonly<Record<string, Writer>> = {
  search_knowledge: (content, asked) => {
    const found = read(passages, content)
    if (!found) return `The knowledge base answered: ${shortened(content, longestOutput)}`
    if (found.results.length === 0) return [nothingFound, closing(asked)].join(' ').trim()
    const quotes = found.results.slice(0, bestPassages).map(({ filename, place, text }) => {
      const source = place ? `${filename}, ${place}` : filename
      return `“${extract(text, asked)}” (${source})`
    })
    return `From the knowledge base:\n\n${quotes.join('\n\n')}`
  },
  recall: (content) => {
    const found = read(memories, content)?.memories
    if (!found) return `I remember: ${shortened(content, longestOutput)}`
    if (found.length === 0) return 'I remember nothing about you yet.'
    return `I remember:\n${found.map((text) => `- ${text}`).join('\n')}`
  },
  remember: (content, _, call) => {
    const text = read(remembered, call?.arguments ?? '')?.text
    return text ? `I will remember that: ${quoted(text)}.` : content
  },
  generate_content: (content) => {
    const made = read(generation, content)
    return made
      ? `Your ${made.content_type} is on its way: content ${made.id} is ${made.status}.`
      : `The content was requested: ${shortened(content, longestOutput)}`
  },
}

const written = ({ name, content, toolCallId }: ToolMessage, asked: string, calls: ToolCall[]) => {
  if (content.startsWith(errorPrefix))
    return `${name} did not work: ${shortened(content.slice(errorPrefix.length), longestOutput)}.`
  const writer = Object.hasOwn(writers, name) ? writers[name] : undefined
  const call = calls.find(({ id }) => id === toolCallId)
  if (writer) return writer(content, asked, call)
  return content.trim() === ''
    ? `${name} answered with nothing.`
    : `${name} answered: ${shortened(content, longestOutput)}`
}

/** The answer to a message from the results of the tools called for it. */
export const answerFrom = (messages: readonly ChatMessage[], asked: string): string => {
  const last = messages.findLastIndex(({ role }) => role !== 'tool')
  const asking = messages[last]
  const calls = asking?.role === 'assistant' ? [...(asking.toolCalls ?? [])] : []
  return messages
    .slice(last + 1)
    .filter((message) => message.role === 'tool')
    .map((message) => written(message, asked, calls))
    .join('\n\n')
}
