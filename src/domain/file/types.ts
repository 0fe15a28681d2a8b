/** Every type of file that is taken in: extensions, and other names its MIME type goes by. */
export const fileTypes = {
  'application/pdf': { extensions: ['pdf'], aliases: ['application/x-pdf'] },
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': {
    extensions: ['docx'],
    aliases: [],
  },
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': {
    extensions: ['pptx'],
    aliases: [],
  },
  'text/plain': { extensions: ['txt'], aliases: [] },
  'text/html': { extensions: ['html'], aliases: ['application/xhtml+xml'] },
  'application/json': { extensions: ['json'], aliases: ['text/json'] },
  'application/x-ndjson': {
    extensions: ['jsonl'],
    aliases: ['application/jsonl', 'application/x-jsonlines', 'application/jsonlines'],
  },
  'text/markdown': { extensions: ['md', 'markdown'], aliases: ['text/x-markdown'] },
} as const satisfies Record<string, { extensions: string[]; aliases: string[] }>

export type FileType = keyof typeof fileTypes

const known = Object.entries(fileTypes).map(([type, { extensions, aliases }]) => ({
  type: type as FileType,
  extensions: new Set<string>(extensions),
  names: new Set<string>([type, ...aliases]),
}))

export const supportedExtensions = known
  .flatMap(({ extensions }) => [...extensions])
  .map((extension) => `.${extension}`)

/**
 * The type of a file by its extension; a declared MIME type has to fit. Undefined: not supported.
 */
export const fileTypeOf = (filename: string, declared?: string): FileType | undefined => {
  const extension = /\.([^.]+)$/.exec(filename)?.[1]?.toLowerCase() ?? ''
  const found = known.find(({ extensions }) => extensions.has(extension))
  const name = declared?.split(';', 1)[0]?.trim().toLowerCase()
  return !name || found?.names.has(name) ? found?.type : undefined
}

/** The name of a file without the folders it was in. */
export const baseName = (path: string): string =>
  (path.split(/[/\\]/).at(-1) ?? '').normalize('NFC').trim()
