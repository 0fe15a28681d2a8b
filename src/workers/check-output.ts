import type { ContentEvent } from '../domain/content/events.ts'
import { type GenerationInput, type Output, ProviderFault } from '../ports/content-provider.ts'
import { mediaHeader } from '../support/media-header.ts'

type ContentType = ContentEvent<'ContentCompleted'>['data']['contentType']

/** How much of a file tells what it is. */
const headBytes = 1_024

/** Types that say nothing. */
const unspecific: ReadonlySet<string> = new Set([
  '',
  'application/octet-stream',
  'binary/octet-stream',
  'application/binary',
])

const page = /^\s*(?:<!--|<!doctype\s+html|<html|<head|<body)/i
/** A drawing may begin with a comment, too. */
const comment = /^\s*<!--/

export const kindOf = (mediaType: string): ContentType => {
  if (mediaType.startsWith('model/gltf')) return 'glb'
  const [kind] = mediaType.split('/')
  return kind === 'image' || kind === 'video' || kind === 'audio' ? kind : 'other'
}

const at = (bytes: Buffer, from: number, text: string): boolean =>
  bytes.toString('latin1', from, from + text.length) === text

/** The format of a container, which may hold sound or video; undefined for any other file. */
const container = (head: Buffer): string | undefined => {
  if (at(head, 4, 'ftyp'))
    return /^(?:avi[fs]|hei[cx]|mif1)/.test(head.toString('latin1', 8)) ? undefined : 'mp4'
  if (at(head, 0, '\x1a\x45\xdf\xa3')) return 'webm'
  return at(head, 0, 'OggS') ? 'ogg' : undefined
}

const utf8Of = (head: Buffer): string => head.toString('utf8').replace(/^\ufeff/, '')

/** What the first bytes of a file say that it is; undefined where they are not known. */
const recognized = (head: Buffer, ordered: ContentType): string | undefined => {
  const utf8 = utf8Of(head)
  if (page.test(utf8)) return 'text/html'
  if (at(head, 0, 'glTF')) return 'model/gltf-binary'
  const contained = container(head)
  if (contained) return `${ordered === 'audio' ? 'audio' : 'video'}/${contained}`
  if (at(head, 4, 'ftypavif')) return 'image/avif'
  if (at(head, 0, 'fLaC')) return 'audio/flac'
  if (/^\s*<svg[\s>]/.test(utf8)) return 'image/svg+xml'
  return mediaHeader(head)?.mediaType
}

/** The first bytes, and all of them. */
const beginning = async (bytes: AsyncIterable<Uint8Array>) => {
  const rest = bytes[Symbol.asyncIterator]()
  const parts: Uint8Array[] = []
  let size = 0
  while (size < headBytes) {
    const next = await rest.next()
    if (next.done) break
    parts.push(next.value)
    size += next.value.length
  }
  async function* all() {
    try {
      yield* parts
      for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
    } finally {
      await rest.return?.()
    }
  }
  return {
    head: Buffer.concat(parts).subarray(0, headBytes),
    all,
    abandon: () => rest.return?.(),
  }
}

/**
 * An output with bytes, of the type that was ordered. The first bytes tell the type where none is
 * declared; unknown ones pass. @throws ProviderFault, ProviderUnavailable
 */
export const checkOutput = async (
  { bytes, mediaType }: Output,
  { contentType }: Pick<GenerationInput, 'contentType'>,
): Promise<Output> => {
  const { head, all, abandon } = await beginning(bytes)
  const refuse = async (words: string): Promise<never> => {
    await abandon()
    throw new ProviderFault(words)
  }
  if (head.length === 0) return refuse('The provider gave an empty output')
  const known = recognized(head, contentType)
  const declared = mediaType.toLowerCase()
  const isUnspecific = unspecific.has(declared)
  const type = isUnspecific ? (known ?? 'application/octet-stream') : declared
  const isDrawing = declared === 'image/svg+xml' && comment.test(utf8Of(head))
  const isPage = known === 'text/html' && !isDrawing
  const isUnknown = isUnspecific && known === undefined
  if (isPage || (!isUnknown && kindOf(type) !== contentType))
    return refuse(
      `The provider gave ${isPage ? known : type} instead of the ${contentType} ordered`,
    )
  return { bytes: all(), mediaType: type }
}
