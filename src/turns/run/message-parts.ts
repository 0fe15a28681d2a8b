import { withVisibleParts } from '../../agents/parts.ts'
import type { AgentTurn } from '../../agents/turn.ts'
import type { MessagePart } from '../../domain/session/events.ts'
import type { Remembered } from '../../domain/session/session.ts'
import type { ChatMessage, ContentPart, PartFacts } from '../../ports/model.ts'
import type { KeyedBlobs } from '../../security/sealed-blobs.ts'
import type { Keyed } from '../../security/vault.ts'
import type { ArrivedPart } from '../begin/receive-parts.ts'

/**
 * Files of earlier messages that a model is shown again; the others are named in a line of text.
 */
const historyFiles = { parts: 10, bytes: 10_485_760 }

/** What a message's event keeps of its files. */
export const storedParts = (
  messageId: string,
  arrived: readonly ArrivedPart[],
  { seal, nameOf }: Keyed,
): MessagePart[] =>
  arrived.map(({ hash, read: _, name, ...facts }, n) => ({
    id: `${messageId}_${n}`,
    ...facts,
    blob: nameOf(hash),
    ...(name === undefined ? {} : { name: seal(name) }),
  }))

async function* bytesOf(files: KeyedBlobs, blob: string): AsyncGenerator<Uint8Array> {
  const stored = await files.get(blob)
  if (!stored) throw new Error('a file of a message is gone')
  yield* stored
}

const factsOf = (
  { kind, mediaType, bytes, at, name, detail, width, height }: MessagePart,
  { open }: Keyed,
): PartFacts => ({
  kind,
  mediaType,
  bytes,
  at,
  ...(name === undefined ? {} : { name: open(name) }),
  ...(detail === undefined ? {} : { detail }),
  ...(width === undefined || height === undefined ? {} : { width, height }),
})

/** A file that is in the blob store, unless an earlier release crashed before it was. */
const contentPart = (part: MessagePart, key: Keyed, files: KeyedBlobs): ContentPart => ({
  ...factsOf(part, key),
  read: () => bytesOf(files, part.blob),
  ready: async () => (await files.size(part.blob)) !== undefined,
})

/**
 * A file that has just arrived. It is stored again if another process has removed the same file
 * meanwhile.
 */
export const arriving = (
  { hash, read, ...facts }: ArrivedPart,
  { nameOf }: Keyed,
  files: KeyedBlobs,
): ContentPart => ({
  ...facts,
  read: () => bytesOf(files, nameOf(hash)),
  async ready() {
    if ((await files.size(nameOf(hash))) === undefined) await files.put(read())
    return true
  },
})

/** The files of a message in the session. */
export const partsOf = (
  { parts = [] }: Pick<Remembered, 'parts'>,
  key: Keyed,
  files: KeyedBlobs,
): ContentPart[] => parts.map((part) => contentPart(part, key, files))

/** Messages with their files as far as they are shown again: those of the newest messages. */
export const remembered = (
  recent: readonly Remembered[],
  key: Keyed,
  files: KeyedBlobs,
): ChatMessage[] => {
  let { parts: leftParts, bytes: leftBytes } = historyFiles
  return recent
    .toReversed()
    .map((message): ChatMessage => {
      const { role, content } = message
      const text = key.open(content)
      if (role === 'assistant' || !message.parts) return { role, content: text }
      const parts = partsOf(message, key, files)
      leftParts -= parts.length
      leftBytes -= parts.reduce((sum, { bytes }) => sum + bytes, 0)
      const fits = leftParts >= 0 && leftBytes >= 0
      return withVisibleParts({ role, content: text, parts }, () => fits)
    })
    .toReversed()
}

/** Whether a turn has files to make ready. */
export const hasParts = ({ parts, history }: AgentTurn): boolean =>
  parts !== undefined ||
  history.some((message) => 'parts' in message && message.parts !== undefined)

/**
 * Puts the files of a turn where models are given them from. What is gone is named in the text
 * instead. @throws StoreUnavailable, KeyDestroyed
 */
export const readied = async (turn: AgentTurn): Promise<AgentTurn> => {
  const missing = new Set<ContentPart>()
  const all = [...turn.history, { parts: turn.parts }]
  for (const entry of all)
    for (const part of ('parts' in entry ? entry.parts : undefined) ?? [])
      if (part.ready && !(await part.ready())) missing.add(part)
  if (missing.size === 0) return turn
  const isThere = (part: ContentPart) => !missing.has(part)
  const { message: content, parts = [], history } = turn
  const message = withVisibleParts({ role: 'user', content, parts }, isThere)
  const { parts: _, ...rest } = turn
  return {
    ...rest,
    message: message.content,
    ...('parts' in message && message.parts ? { parts: message.parts } : {}),
    history: history.map((entry) => withVisibleParts(entry, isThere)),
  }
}
