import { choicesIn, transferName } from '../../agents/transfer.ts'
import type { ToolSpec } from '../../ports/model.ts'
import { cutText } from '../../support/cut-text.ts'
import { ownTools } from './offline-named-tool.ts'

export const longestQuote = 400

export const shortened = (text: string, longest: number): string =>
  text.length <= longest ? text : `${cutText(text, longest).trimEnd()}…`

export const quoted = (text: string): string => `“${shortened(text, longestQuote)}”`

const farewell = /\b(?:good-?bye|good bye|bye)\b/i
const person =
  /\b(?:human (?:agent|being|operator|representative|support)|real person|live agent)\b/i
const reaching = /\b(?:speak|talk|chat|connect|transfer|escalate|reach|want|need|hand)\b/i
const somebody = /\b(?:human|person|representative|operator)\b/i

const wantsPerson = (message: string): boolean => {
  if (person.test(message)) return true
  const verb = reaching.exec(message)
  return verb !== null && somebody.test(message.slice(verb.index))
}

/** A farewell, or the announcement of a human agent, when the message asks for it; else ''. */
export const closing = (message: string): string => {
  if (farewell.test(message)) return 'Goodbye! It was a pleasure to help.'
  if (wantsPerson(message)) return 'I will transfer you to a human agent now.'
  return ''
}

const listed = (items: readonly string[]): string =>
  items.length < 2
    ? items.join('')
    : `${items.slice(0, -1).join(', ')} and ${items[items.length - 1]}`

const can: Readonly<Record<string, string>> = {
  generate_content: 'generate images, videos, sounds and 3D models',
  remember: 'remember what you tell me',
  recall: 'tell you what I remember',
  search_knowledge: 'answer from the knowledge base',
}

/** One sentence on what the tools allow. */
export const abilities = (tools: readonly ToolSpec[]): string => {
  const items = tools.flatMap(({ name }) => can[name] ?? [])
  const own = ownTools(tools).map(({ name }) => name)
  if (own.length > 0) items.push(`call ${listed(own)}`)
  const transfer = tools.find(({ name }) => name === transferName)
  const agents = transfer ? choicesIn(transfer).map(({ name }) => name) : []
  if (agents.length > 0) items.push(`hand over to ${listed(agents)}`)
  return items.length === 0
    ? 'I can acknowledge messages; I have no tools or documents to work with.'
    : `I can ${listed(items)}.`
}
