import { LRUCache } from 'lru-cache'
import { choicesIn, transferName } from '../../agents/transfer.ts'
import type { PartFacts, ToolChoice, ToolSpec } from '../../ports/model.ts'
import { bm25, hasContent } from '../../support/bm25.ts'
import { demandedTool, namedTool } from './offline-named-tool.ts'
import { abilities, closing, quoted } from './offline-words.ts'

export type Question = {
  message: string
  tools: readonly ToolSpec[]
  toolChoice?: ToolChoice | undefined
  /** Files of the message. */
  parts?: readonly PartFacts[]
}
export type OfflineAnswer =
  | { say: string }
  | { name: string; args: Readonly<Record<string, unknown>> }
type Rule = (question: Question) => OfflineAnswer | undefined

const makeVerb = /\b(?:generate|create|draw|make)\b/i
const makeable = /\b(?:(images?|pictures?)|(videos?)|(sounds?|audio)|(3d[ -]?models?))\b/i
const contentTypes = ['image', 'video', 'audio', 'glb'] as const

const remembering = /\bremember that\s+/i
const recalling = /\bwhat do you remember\b/i

/** Words of a request that say nothing of its subject. */
const courtesies = /\b(?:agent|assistant|has|help|like|need|please|want)\b/gi

/** Characters of a message in which its subject is sought. */
const longestSubject = 10_000

/** One content word of a description that the others do not share reaches this. */
const transferThreshold = 0.25

const has = (tools: readonly ToolSpec[], name: string) => tools.some((tool) => tool.name === name)

const generates: Rule = ({ message, tools }) => {
  if (!has(tools, 'generate_content')) return undefined
  const verb = makeVerb.exec(message)
  const noun = verb && makeable.exec(message.slice(verb.index))
  if (!noun) return undefined
  const content_type = contentTypes.find((_, n) => noun[n + 1] !== undefined)
  return { name: 'generate_content', args: { prompt: message, content_type } }
}

const recalls: Rule = ({ message, tools }) =>
  has(tools, 'recall') && recalling.test(message)
    ? { name: 'recall', args: { query: message } }
    : undefined

const remembers: Rule = ({ message, tools }) => {
  const match = has(tools, 'remember') ? remembering.exec(message) : null
  const text = match ? message.slice(match.index + match[0].length).trim() : ''
  return text === '' ? undefined : { name: 'remember', args: { text } }
}

const indexes = new LRUCache<string, ReturnType<typeof bm25>>({ max: 1000 })

const transfers: Rule = ({ message, tools }) => {
  const spec = tools.find(({ name }) => name === transferName)
  if (!spec) return undefined
  const choices = choicesIn(spec)
  const texts = choices.map(({ name, description }) => `${name} ${description}`)
  const subject = message.slice(0, longestSubject).replace(courtesies, ' ')
  const key = texts.join('\n')
  const known = indexes.get(key)
  const index = known ?? bm25()
  if (!known) {
    for (const text of texts) index.add(text)
    indexes.set(key, index)
  }
  const [best] = hasContent(subject) ? index.search(subject, 1) : []
  if (!best || best.score < transferThreshold) return undefined
  return { name: transferName, args: { agent_name: choices[best.document]?.name } }
}

const articled = { image: 'an image', audio: 'a sound', file: 'a file' } as const

const formatOf = (mediaType: string): string =>
  mediaType === 'audio/mpeg' ? 'MP3' : mediaType.slice(mediaType.indexOf('/') + 1).toUpperCase()

const described = ({ kind, name, mediaType, bytes, width, height }: PartFacts): string => {
  const named = name === undefined ? '' : ` ${quoted(name)}`
  const size = width && height ? `, ${width} × ${height} pixels` : ''
  const form = kind === 'file' ? mediaType : formatOf(mediaType)
  return `I was given ${articled[kind]}${named}: ${form}${size}, ${bytes} bytes.`
}

const describes: Rule = ({ message, parts = [] }) => {
  if (parts.length === 0) return undefined
  const understood = message === '' ? [] : [`I understood your message: ${quoted(message)}.`]
  return { say: [...parts.map(described), ...understood].join(' ') }
}

const searches: Rule = ({ message, tools }) =>
  has(tools, 'search_knowledge') && message !== ''
    ? { name: 'search_knowledge', args: { query: message } }
    : undefined

const closes: Rule = ({ message }) => {
  const say = closing(message)
  return say === '' ? undefined : { say }
}

/** The first rule with an answer decides (docs/contract/models.md#the-offline-model). */
const rules: readonly Rule[] = [
  demandedTool,
  generates,
  recalls,
  remembers,
  namedTool,
  describes,
  transfers,
  searches,
  closes,
]

/** What to do about a message: say something, or call a tool. */
export const planned = (question: Question): OfflineAnswer => {
  for (const rule of rules) {
    const plan = rule(question)
    if (plan) return plan
  }
  return {
    say: `I understood your message: ${quoted(question.message)}. ${abilities(question.tools)}`,
  }
}
