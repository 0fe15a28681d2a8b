import { z } from 'zod'
import type { MessageAnswer } from '../../../queries/get-message.ts'

const completed = z.literal('completed')

/** An item that a response was asked. */
export const inputItem = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('message'),
    id: z.string(),
    status: completed,
    role: z.literal('user'),
    content: z.array(
      z.discriminatedUnion('type', [
        z.object({ type: z.literal('input_text'), text: z.string() }),
        z.object({
          type: z.literal('input_image'),
          image_url: z.string(),
          detail: z.enum(['auto', 'low', 'high']),
        }),
        z.object({
          type: z.literal('input_file'),
          file_url: z.string(),
          filename: z.string().optional(),
        }),
      ]),
    ),
  }),
  z.object({
    type: z.literal('function_call_output'),
    id: z.string(),
    status: completed,
    call_id: z.string(),
    output: z.string(),
  }),
])

const status = 'completed' as const

type File = NonNullable<MessageAnswer['parts']>[number]

/** A file behind a signed link; sounds too, as OpenAI has no links to them. */
const fileOf = ({ kind, url, name, detail }: File) =>
  kind === 'image'
    ? { type: 'input_image' as const, image_url: url, detail: detail ?? ('auto' as const) }
    : {
        type: 'input_file' as const,
        file_url: url,
        ...(name === undefined ? {} : { filename: name }),
      }

export const inputItemOf = (message: MessageAnswer): z.infer<typeof inputItem> => {
  const { event_id, content: text, tool_call_id, parts = [] } = message
  return tool_call_id === undefined
    ? {
        type: 'message',
        id: `msg_${event_id}`,
        status,
        role: 'user',
        content: [{ type: 'input_text', text }, ...parts.map(fileOf)],
      }
    : {
        type: 'function_call_output',
        id: `fco_${event_id}`,
        status,
        call_id: tool_call_id,
        output: text,
      }
}
