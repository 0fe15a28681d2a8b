import type { ChatMessage, ContentKind, ContentPart, PartFacts } from '../ports/model.ts'

const longSide = 2_048
const shortSide = 768
const tile = 512
const perTile = 170
const perImage = 85

/** How OpenAI counts images: by the tiles of 512 pixels that the scaled image has. */
const imageTokens = ({ width = longSide, height = shortSide, detail }: PartFacts): number => {
  if (detail === 'low') return perImage
  const [long, short] = [Math.max(width, height, 1), Math.max(1, Math.min(width, height))]
  const scale = Math.min(1, longSide / long, shortSide / short)
  const tiles = Math.ceil((long * scale) / tile) * Math.ceil((short * scale) / tile)
  return perImage + perTile * tiles
}

const bytesPerAudioToken = 1_600
const bytesPerFileToken = 1_000
const perFile = 500

/** An estimate, for reservations and for what fits into a prompt. */
export const partTokens = (part: PartFacts): number => {
  if (part.kind === 'image') return imageTokens(part)
  if (part.kind === 'audio') return Math.ceil(part.bytes / bytesPerAudioToken)
  return perFile + Math.ceil(part.bytes / bytesPerFileToken)
}

/** What a part is, in words. */
export const partWords = ({ kind, name, mediaType, bytes, width, height }: PartFacts): string =>
  [
    name === undefined ? kind : `${kind} “${name}”`,
    mediaType,
    ...(width && height ? [`${width} × ${height} pixels`] : []),
    `${bytes} bytes`,
  ].join(', ')

/** A message in which parts that are not shown are lines of text, which name them. */
export const withVisibleParts = (
  message: ChatMessage,
  isShown: (part: ContentPart) => boolean,
): ChatMessage => {
  if (message.role === 'assistant' || message.role === 'tool' || !message.parts) return message
  const { parts, ...rest } = message
  const visible = parts.filter(isShown)
  if (visible.length === parts.length) return message
  const lines = parts
    .filter((part) => !visible.includes(part))
    .map((part) => `[${partWords(part)}]`)
  const content = [rest.content, ...lines].filter((line) => line !== '').join('\n')
  return { ...rest, content, ...(visible.length > 0 ? { parts: visible } : {}) }
}

const hasParts = (message: ChatMessage): boolean => 'parts' in message

/** Messages as a model is shown them that takes these kinds. */
export const messagesFor = (
  takes: ReadonlySet<ContentKind>,
  messages: readonly ChatMessage[],
): readonly ChatMessage[] => {
  const isTaken = ({ kind }: PartFacts) => takes.has(kind)
  return messages.some(hasParts)
    ? messages.map((message) => withVisibleParts(message, isTaken))
    : messages
}
