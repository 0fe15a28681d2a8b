import type { FileType } from '../../domain/file/types.ts'
import type { Block } from '../block.ts'

/** `warn` takes what cannot be read of a document, in words for the user who uploaded it. */
type Warn = (warning: string) => void
type Parse = (bytes: Uint8Array, warn: Warn) => Block[] | Promise<Block[]>

/** Each parser loads only the modules that it needs. */
const parsers: Readonly<Record<FileType, () => Promise<Parse>>> = {
  'application/pdf': async () => (await import('./pdf.ts')).parsePdf,
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': async () =>
    (await import('./docx.ts')).parseDocx,
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': async () =>
    (await import('./pptx.ts')).parsePptx,
  'text/plain': async () => (await import('./text.ts')).parseText,
  'text/html': async () => (await import('./html.ts')).parseHtml,
  'application/json': async () => (await import('./json.ts')).parseJsonDocument,
  'application/x-ndjson': async () => (await import('./json.ts')).parseJsonLines,
  'text/markdown': async () => (await import('./markdown.ts')).parseMarkdown,
}

/** The text of a file as blocks, in order. @throws Unreadable */
export const parse = async (
  bytes: Uint8Array,
  fileType: FileType,
  warn: Warn = () => {},
): Promise<Block[]> => {
  const parser = await parsers[fileType]()
  return parser(bytes, warn)
}
