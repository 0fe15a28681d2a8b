import type { ChatMessage, ContentKind, PartFacts } from '../../ports/model.ts'

/** A file in a user's message as the client sends it, unchecked. */
export type SentPart = Pick<PartFacts, 'kind' | 'at' | 'name' | 'detail'> & {
  /** The bytes in base64, which are taken once so that no request holds them longer, or a URL. */
  from: { length: number; take(): string } | { url: string }
  /** What the client says that it is. */
  mediaType?: string
}

/** An earlier message as the client sends it; its files have not arrived. */
export type SentMessage = ChatMessage & { sent?: readonly SentPart[] }

/** A text in base64 that is released once it is taken. */
export const singleUseText = (text: string): { length: number; take(): string } => {
  let base64 = text
  return {
    length: text.length,
    take() {
      const value = base64
      base64 = ''
      return value
    },
  }
}

/** Names a part in a refusal. */
export const partName = ({ kind, name }: { kind: ContentKind; name?: string }): string =>
  name === undefined ? `the ${kind}` : `the ${kind} ${name}`
