import { z } from 'zod'
import { baseName } from '../../domain/file/types.ts'
import { list, within } from '../../support/bounded-schema.ts'
import { type SentPart, singleUseText } from '../../turns/begin/sent-parts.ts'
import { orAbsent } from './fields.ts'

/** Files of one message, and of all messages of a request (docs/contract/limits.md#sizes). */
const mostInMessage = 20
const mostInRequest = 50
const longestUrl = 2_000
/** `data:`, a media type with its parameters, `;base64,`. */
const longestDataHead = 300

/** What a user says: its texts joined by line breaks, and files. */
export type UserContent = { text: string; parts: SentPart[] }

const dataHead = /^data:([a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+)?(?:;[^;,]*)*;base64$/i

/** The address of a file, or its bytes in a data URL; undefined where it is neither. */
const sourceOf = (url: string): Pick<SentPart, 'from' | 'mediaType'> | undefined => {
  if (!url.startsWith('data:'))
    return url.length <= longestUrl && /^https?:\/\//i.test(url) && URL.canParse(url)
      ? { from: { url } }
      : undefined
  const comma = url.slice(0, longestDataHead).indexOf(',')
  const head = comma === -1 ? null : dataHead.exec(url.slice(0, comma))
  if (!head) return undefined
  const [, mediaType] = head
  return {
    from: singleUseText(url.slice(comma + 1)),
    ...(mediaType === undefined ? {} : { mediaType: mediaType.toLowerCase() }),
  }
}

const expectedUrl = `An https address of up to ${longestUrl} characters, or a data URL in base64, is expected`
const source = z.string().transform((url, { addIssue }) => {
  const fileSource = sourceOf(url)
  if (fileSource) return fileSource
  addIssue({ code: 'custom', message: expectedUrl })
  return z.NEVER
})

const detail = orAbsent(z.enum(['auto', 'low', 'high']))

const text = z.object({ type: z.literal('text'), text: z.string() })

const image = z
  .object({ type: z.literal('image_url'), image_url: z.object({ url: source, detail }) })
  .transform(({ image_url: { url, detail } }) => ({
    part: { kind: 'image' as const, ...url, ...(detail === undefined ? {} : { detail }) },
  }))

const audioTypes = { wav: 'audio/wav', mp3: 'audio/mpeg' } as const

const audio = z
  .object({
    type: z.literal('input_audio'),
    input_audio: z.object({ data: z.string(), format: z.enum(['wav', 'mp3']) }),
  })
  .transform(({ input_audio: { data, format } }) => ({
    part: { kind: 'audio' as const, from: singleUseText(data), mediaType: audioTypes[format] },
  }))

const controls = /\p{Cc}/u
const filename = z
  .string()
  .max(255)
  .refine((name) => !controls.test(name), 'A name has no control characters')
  .transform(baseName)
  .refine((name) => name !== '', 'A name is expected')

/** Providers call it data; it is a data URL, or base64 alone. */
const fileData = z
  .string()
  .transform((data) => (data.startsWith('data:') ? data : `data:;base64,${data}`))
  .pipe(source)

const file = z
  .object({
    type: z.literal('file'),
    file: z.object({
      file_data: orAbsent(fileData),
      filename: orAbsent(filename),
      file_id: orAbsent(z.string()),
    }),
  })
  .transform(({ file: { file_data: data, filename: name, file_id: id } }, { addIssue }) => {
    if (data) return { part: { kind: 'file' as const, ...data, ...(name ? { name } : {}) } }
    const message =
      id === undefined ? 'file_data is required' : 'There are no stored files: send file_data'
    addIssue({
      code: 'custom',
      path: ['file', id === undefined ? 'file_data' : 'file_id'],
      message,
    })
    return z.NEVER
  })

const parts = list(
  z.discriminatedUnion(
    'type',
    [text, image, audio, file],
    'type is one of text, image_url, input_audio, file',
  ),
)
  .superRefine((all, { addIssue }) => {
    if (all.filter((item) => 'part' in item).length > mostInMessage)
      addIssue({ code: 'custom', message: `A message has at most ${mostInMessage} files` })
  })
  .transform((all): UserContent => {
    const content: UserContent = { text: '', parts: [] }
    let first = true
    for (const item of all)
      if ('part' in item) content.parts.push({ ...item.part, at: content.text.length })
      else {
        content.text = first ? item.text : `${content.text}\n${item.text}`
        first = false
      }
    return content
  })

/** Of the parts of one message (docs/contract/limits.md#sizes). */
export const partBounds = { nodes: 2_000, depth: 8 }

/** A user's text, or texts and files as OpenAI's clients send them. */
export const userContent = within(
  partBounds,
  z.union([z.string().transform((text): UserContent => ({ text, parts: [] })), parts], {
    error: ({ input, errors = [] }) => {
      const issue = Array.isArray(input) ? errors[1]?.[0] : undefined
      return issue
        ? `${issue.path.join('.')}: ${issue.message}`
        : 'A string, or an array of parts is expected'
    },
  }),
)

export const tooManyFiles = `A request has at most ${mostInRequest} files`

/** Whether the messages of a request have no more files than it may. */
export const haveFewFiles = (all: readonly (readonly SentPart[])[]): boolean =>
  all.reduce((sum, parts) => sum + parts.length, 0) <= mostInRequest
