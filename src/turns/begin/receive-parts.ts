import { refusal } from '../../domain/refusal.ts'
import type { ChatMessage, ContentPart, PartFacts } from '../../ports/model.ts'
import { type Outbound, OutboundRefused } from '../../ports/outbound.ts'
import type { Spool, Spooled } from '../../security/spool.ts'
import { mediaHeader } from '../../support/media-header.ts'
import { partName, type SentMessage, type SentPart } from './sent-parts.ts'

/** A file that has arrived: `hash` is the SHA-256 of its bytes. */
export type ArrivedPart = PartFacts & { hash: string; read(): AsyncIterable<Uint8Array> }

/** The files of a request, which wait on disk until they are discarded. */
export type ArrivedParts = { parts: readonly ArrivedPart[]; discard?(): Promise<void> }

/** In bytes: one file, and all files of a request (docs/contract/limits.md#sizes). */
const largestPart = 10_485_760
const largestRequest = 2 * largestPart
/** Characters of base64 that are decoded at once; four are three bytes. */
const pieceLength = 262_144
/** What is looked at to tell what a file is. */
const headerBytes = 262_144
/** All addresses of a request. */
const fetchMs = 20_000
const mostRedirects = 3

const tooLarge = (part: SentPart) =>
  refusal('payload_too_large', { message: `${partName(part)} is larger than 10 MB` })

const unreadable = (part: SentPart, why: string) =>
  refusal('invalid_content', { field: 'messages', message: `${partName(part)}: ${why}` })

/** Decodes base64 piece by piece, so that what it is given to may wait between them. */
async function* decoded(part: SentPart, base64: string): AsyncGenerator<Uint8Array> {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0
  const end = base64.length - padding
  if (end % 4 === 1) throw unreadable(part, 'it is not valid base64')
  for (let at = 0; at < end; at += pieceLength) {
    const text = base64.slice(at, Math.min(end, at + pieceLength))
    const bytes = Buffer.from(text, 'base64')
    // What is no base64 is left out by the decoder.
    if (bytes.length !== Math.floor((text.length * 3) / 4))
      throw unreadable(part, 'it is not valid base64')
    yield bytes
  }
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

type Uses = { spool: Spool; outbound: Outbound }

/**
 * Takes in the files of a request: decodes or fetches them, looks at their first bytes, and keeps
 * them on disk. Addresses are fetched one after the other through the guarded way out, following
 * redirects through it, as they are: compressed answers are refused. If one file is refused, none
 * is kept. @throws invalid_content, payload_too_large
 */
export const receiveParts = ({ spool, outbound }: Uses) => {
  const answerFrom = async (part: SentPart, address: string, signal: AbortSignal) => {
    let url = new URL(address)
    for (let followed = 0; followed <= mostRedirects; followed++) {
      const headers = { 'accept-encoding': 'identity', 'user-agent': 'reprise', accept: '*/*' }
      const response = await outbound.fetch(url, { headers, signal })
      const location = response.headers.get('location')
      if (!redirects.has(response.status) || location === null) return response
      await response.body?.cancel()
      if (!URL.canParse(location, url.href)) throw unreadable(part, 'it redirects to no address')
      url = new URL(location, url)
    }
    throw unreadable(part, 'its address redirects too often')
  }

  async function* fetched(part: SentPart, address: string, signal: AbortSignal) {
    try {
      const response = await answerFrom(part, address, signal)
      const { status, headers, body } = response
      const coding = headers.get('content-encoding') ?? 'identity'
      const why = !response.ok
        ? `its address answers ${status}`
        : coding !== 'identity'
          ? 'its address answers compressed, which is not taken'
          : undefined
      if (why !== undefined) {
        await body?.cancel()
        throw unreadable(part, why)
      }
      if (Number(headers.get('content-length') ?? 0) > largestPart) {
        await body?.cancel()
        throw tooLarge(part)
      }
      yield* (body ?? []) as AsyncIterable<Uint8Array>
    } catch (error) {
      if (error instanceof OutboundRefused) throw unreadable(part, error.message)
      if (error instanceof Error && error.name === 'Refusal') throw error
      throw unreadable(
        part,
        signal.aborted ? `it did not arrive within ${fetchMs / 1000} s` : 'it could not be fetched',
      )
    }
  }

  /** Which type a file has, by its bytes; of other files, what the client says. */
  const factsOf = (part: SentPart, header: Buffer): Pick<PartFacts, 'mediaType'> => {
    const detected = mediaHeader(header)
    const { kind, mediaType: declared } = part
    if (kind === 'image') {
      if (detected?.mediaType.startsWith('image/')) return detected
      throw unreadable(part, 'it is no PNG, JPEG, GIF or WebP')
    }
    if (kind === 'audio') {
      if (detected && detected.mediaType === declared) return detected
      throw unreadable(part, `it is not ${declared}`)
    }
    if (declared === 'application/pdf' && detected?.mediaType !== declared)
      throw unreadable(part, 'it is no PDF')
    return { mediaType: declared ?? detected?.mediaType ?? 'application/octet-stream' }
  }

  return async (sent: readonly SentPart[]): Promise<ArrivedParts> => {
    const files: Spooled[] = []
    const discard = async () => {
      for (const { remove } of files.splice(0)) await remove()
    }
    const signal = AbortSignal.timeout(fetchMs)
    let inAll = 0

    const arrived = async (part: SentPart): Promise<ArrivedPart> => {
      const { from, kind, at, name, detail } = part
      if ('length' in from && from.length > Math.ceil(largestPart / 3) * 4) throw tooLarge(part)
      const bytes = 'url' in from ? fetched(part, from.url, signal) : decoded(part, from.take())
      const pieces: Uint8Array[] = []
      let size = 0

      async function* measured() {
        for await (const piece of bytes) {
          if (size < headerBytes) pieces.push(Buffer.from(piece))
          size += piece.length
          inAll += piece.length
          if (size > largestPart) throw tooLarge(part)
          if (inAll > largestRequest)
            throw refusal('payload_too_large', {
              message: 'The files of a request are larger than 20 MB together',
            })
          yield piece
        }
      }

      const file = await spool.keep(measured())
      files.push(file)
      if (size === 0) throw unreadable(part, 'it is empty')
      return {
        kind,
        ...factsOf(part, Buffer.concat(pieces).subarray(0, headerBytes)),
        bytes: size,
        at,
        ...(name === undefined ? {} : { name }),
        ...(detail === undefined ? {} : { detail }),
        hash: file.hash,
        read: file.bytes,
      }
    }

    try {
      const parts: ArrivedPart[] = []
      for (const part of sent) parts.push(await arrived(part))
      return { parts, discard }
    } catch (error) {
      await discard()
      throw error
    }
  }
}
export type ReceiveParts = ReturnType<typeof receiveParts>

/** Earlier messages with their files, which have arrived in the order in which they were sent. */
export const withFiles = (
  messages: readonly SentMessage[],
  files: readonly ContentPart[],
): ChatMessage[] => {
  let at = 0
  return messages.map((message): ChatMessage => {
    const { sent, ...rest } = message
    if (!sent || rest.role === 'assistant' || rest.role === 'tool') return rest
    const parts = files.slice(at, at + sent.length)
    at += sent.length
    return { ...rest, parts }
  })
}
