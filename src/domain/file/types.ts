const docx = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
const pptx = 'application/vnd.openxmlformats-officedocument.presentationml.presentation'

/** Every MIME type of a file that is taken in. */
export const mimeTypes = [
  'application/pdf',
  docx,
  pptx,
  'text/plain',
  'text/html',
  'application/json',
  'application/x-ndjson',
  'text/markdown',
] as const

export type FileType = (typeof mimeTypes)[number]

/**
 * Their extensions, and other names that they go by. Clients that do not know a format of text call
 * it plain text.
 */
const types: Readonly<Record<FileType, { extensions: string[]; aliases?: string[] }>> = {
  'application/pdf': { extensions: ['pdf'], aliases: ['application/x-pdf'] },
  [docx]: { extensions: ['docx'] },
  [pptx]: { extensions: ['pptx'] },
  'text/plain': { extensions: ['txt'] },
  'text/html': {
    extensions: ['html', 'htm'],
    aliases: ['application/xhtml+xml', 'text/plain'],
  },
  'application/json': { extensions: ['json'], aliases: ['text/json', 'text/plain'] },
  'application/x-ndjson': {
    extensions: ['jsonl', 'ndjson'],
    aliases: [
      'application/ndjson',
      'application/jsonl',
      'application/x-jsonlines',
      'application/jsonlines',
      'application/json',
      'text/plain',
    ],
  },
  'text/markdown': {
    extensions: ['md', 'markdown'],
    aliases: ['text/x-markdown', 'text/plain'],
  },
}

const known = mimeTypes.map((type) => {
  const { extensions, aliases = [] } = types[type]
  return { type, extensions: new Set(extensions), names: new Set([type, ...aliases]) }
})

export const supportedExtensions = known
  .flatMap(({ extensions }) => [...extensions])
  .map((extension) => `.${extension}`)

/**
 * The type of a file by its extension; a declared MIME type has to fit. Undefined: not supported.
 */
export const fileTypeOf = (filename: string, declared?: string): FileType | undefined => {
  const extension = /\.([^.]+)$/.exec(filename)?.[1]?.toLowerCase() ?? ''
  const match = known.find(({ extensions }) => extensions.has(extension))
  const name = declared?.split(';', 1)[0]?.trim().toLowerCase()
  return !name || match?.names.has(name) ? match?.type : undefined
}

/** The name of a file without the folders it was in. */
export const baseName = (path: string): string =>
  (path.split(/[/\\]/).at(-1) ?? '').normalize('NFC').trim()
