import { z } from 'zod'
import { list, within } from '../../support/bounded-schema.ts'
import { partBounds } from './content-parts.ts'
import { orAbsent } from './fields.ts'

/** Kinds of items that OpenAI has and that are not offered here. */
const otherItems = [
  'additional_tools',
  'apply_patch_call',
  'apply_patch_call_output',
  'code_interpreter_call',
  'compaction',
  'compaction_trigger',
  'computer_call',
  'computer_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'file_search_call',
  'image_generation_call',
  'local_shell_call',
  'local_shell_call_output',
  'mcp_approval_request',
  'mcp_approval_response',
  'mcp_call',
  'mcp_list_tools',
  'program',
  'program_output',
  'shell_call',
  'shell_call_output',
  'tool_search_call',
  'tool_search_output',
  'web_search_call',
] as const

/** A `type` that is known and not offered. */
const notOffered = <Type extends string>(types: readonly Type[], code: string, words: string) =>
  z.object({
    type: z.enum(types).superRefine((type, { addIssue }) => {
      addIssue({ code: 'custom', message: `${type} ${words}`, params: { code } })
    }),
  })

/** The message for a value of the wrong type; a missing value has zod's own message. */
const expected = (words: string) => ({
  error: ({ input }: { input?: unknown }) =>
    input === undefined ? undefined : `${words} is expected`,
})

const id = z.string().max(256)

const words = [
  z.object({ type: z.enum(['input_text', 'output_text', 'text']), text: z.string() }),
  z.object({ type: z.literal('refusal'), refusal: z.string() }),
] as const

/** Of files stored at OpenAI, or behind an address. */
const elsewhere = orAbsent(z.string()).superRefine((value, { addIssue }) => {
  if (value !== undefined)
    addIssue({
      code: 'custom',
      message: 'There are no stored files: send their bytes',
      params: { code: 'unsupported_content' },
    })
})

const files = [
  z.object({
    type: z.literal('input_image'),
    file_id: elsewhere,
    image_url: z.string(),
    detail: orAbsent(z.enum(['auto', 'low', 'high'])),
  }),
  z.object({
    type: z.literal('input_file'),
    file_id: elsewhere,
    file_url: elsewhere,
    file_data: z.string().describe('A data URL, or base64'),
    filename: orAbsent(z.string()),
  }),
  z.object({
    type: z.literal('input_audio'),
    input_audio: z.object({ data: z.string(), format: z.enum(['wav', 'mp3']) }),
  }),
] as const

const userPart = z.discriminatedUnion(
  'type',
  [...words, ...files],
  'type is one of input_text, input_image, input_file, input_audio',
)

const plainPart = z.discriminatedUnion(
  'type',
  [
    ...words,
    notOffered(
      ['input_image', 'input_file', 'input_audio'],
      'unsupported_content',
      'stands in messages of the user alone',
    ),
  ],
  'type is one of input_text, output_text, refusal',
)

/** A text stands for one part; its schema says both. */
const contentOf = <Part extends z.ZodType>(part: Part) =>
  within(
    partBounds,
    z.preprocess(
      (sent) => (typeof sent === 'string' ? [{ type: 'input_text', text: sent }] : sent),
      list(part, expected('A string, or an array of {type: "input_text", text}')),
    ),
  ).meta({ type: ['string', 'array'] })

const message = z.discriminatedUnion(
  'role',
  [
    z.object({
      type: z.literal('message'),
      role: z.literal('user'),
      content: contentOf(userPart),
    }),
    z.object({
      type: z.literal('message'),
      role: z.enum(['assistant', 'system', 'developer']),
      content: contentOf(plainPart),
    }),
  ],
  'role is one of user, assistant, system, developer',
)

const functionCall = z.object({
  type: z.literal('function_call'),
  call_id: id,
  name: z.string(),
  arguments: z.string(),
})

const item = z.preprocess(
  (sent) =>
    typeof sent !== 'object' || sent === null || 'type' in sent
      ? sent
      : { type: 'role' in sent ? 'message' : 'item_reference', ...sent },
  z.discriminatedUnion(
    'type',
    [
      message,
      functionCall,
      z.object({
        type: z.literal('function_call_output'),
        call_id: id,
        output: contentOf(plainPart),
      }),
      // An item of an earlier response.
      z.object({ type: z.literal('item_reference'), id }),
      // What a model thought elsewhere: no model here is given it.
      z.object({ type: z.literal('reasoning') }),
      notOffered(otherItems, 'unsupported_parameter', 'items are not offered'),
    ],
    'type is one of message, function_call, function_call_output, item_reference, reasoning',
  ),
)

/** `input` of a response: a text, or items (docs/contract/responses.md#input). */
export const responseInput = z
  .preprocess(
    (sent) => (typeof sent === 'string' ? [{ role: 'user', content: sent }] : sent),
    list(item, expected('A string, or an array of items')),
  )
  .meta({ type: ['string', 'array'] })

export type InputItem = z.infer<typeof item>

/** An item of the conversation; a reference stands for one. */
export type ResolvedItem = Exclude<InputItem, { type: 'item_reference' }>

/** A text or a file of a message of the user, and what anybody else can say. */
export type UserPart = z.infer<typeof userPart>
export type InputPart = UserPart | z.infer<typeof plainPart>
