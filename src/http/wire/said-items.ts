import type { z } from 'zod'
import { refusal } from '../../domain/refusal.ts'
import { type ChatBody, chatMessages } from './chat.ts'
import type { InputPart, ResolvedItem, UserPart } from './response-input.ts'

type ChatMessageInput = z.input<typeof chatMessages>[number]

const textOf = (part: InputPart): string =>
  'text' in part ? part.text : 'refusal' in part ? part.refusal : ''

const textsOf = (content: readonly InputPart[]) =>
  content.map((part) => ({ type: 'text' as const, text: textOf(part) }))

/** Texts and files, as chat completions write them. */
const partsOf = (content: readonly UserPart[]) =>
  content.map((part) => {
    if (part.type === 'input_audio') return part
    if (part.type === 'input_file') {
      const { file_data, filename } = part
      return { type: 'file' as const, file: { file_data, filename } }
    }
    if (part.type !== 'input_image') return { type: 'text' as const, text: textOf(part) }
    const { image_url: url, detail } = part
    return { type: 'image_url' as const, image_url: { url, detail } }
  })

/** Adds an item to what is said before it, as chat completions write it. */
const addItem = (messages: ChatMessageInput[], item: ResolvedItem): void => {
  const last = messages.at(-1)
  if (item.type === 'message') {
    if (item.role !== 'user') messages.push({ role: item.role, content: textsOf(item.content) })
    // What the user says in several items is one message: a turn has one.
    else if (last?.role === 'user' && Array.isArray(last.content))
      last.content.push(...partsOf(item.content))
    else messages.push({ role: 'user', content: partsOf(item.content) })
  } else if (item.type === 'function_call') {
    const { call_id, name, arguments: args } = item
    const call = { id: call_id, type: 'function' as const, function: { name, arguments: args } }
    // Calls of one answer follow its text and each other.
    if (last?.role !== 'assistant')
      messages.push({ role: 'assistant', content: null, tool_calls: [call] })
    else if (last.tool_calls) last.tool_calls.push(call)
    else last.tool_calls = [call]
  } else if (item.type === 'function_call_output')
    messages.push({ role: 'tool', tool_call_id: item.call_id, content: textsOf(item.output) })
}

/** Items as messages of chat completions. @throws missing_required_field, invalid_input */
export const chatMessagesOf = (items: readonly ResolvedItem[]): ChatBody['messages'] => {
  const messages: ChatMessageInput[] = []
  for (const item of items) addItem(messages, item)
  if (!messages.some(({ role }) => role === 'user' || role === 'tool'))
    throw refusal('missing_required_field', {
      field: 'input',
      message: 'input needs a message of the user, or the output of a call',
    })
  const { data, error } = chatMessages.safeParse(messages)
  if (data) return data
  throw refusal('invalid_input', { field: 'input', message: `input: ${error.issues[0]?.message}` })
}
