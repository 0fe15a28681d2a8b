import type { ChatMessage, ContentKind, PartFacts } from '../../ports/model.ts'

/** A file in a user's message as the client sends it; nothing of it is checked yet. */
export type SentPart = Pick<PartFacts, 'kind' | 'at' | 'name' | 'detail'> & {
  /** Where the bytes are: in base64, given once, so that no request holds it longer; or elsewhere. */
  from: { length: number; take(): string } | { url: string }
  /** What the client says that it is. */
  mediaType?: string
}

/** An earlier message as the client sends it; its files have not arrived. */
export type SaidBefore = ChatMessage & { sent?: readonly SentPart[] }

/** A text in base64 that is given once. */
export const givenOnce = (text: string): { length: number; take(): string } => {
  let kept = text
  return {
    length: text.length,
    take() {
      const taken = kept
      kept = ''
      return taken
    },
  }
}

/** How a part is called in a refusal. */
export const calledPart = ({ kind, name }: { kind: ContentKind; name?: string }): string =>
  name === undefined ? `the ${kind}` : `the ${kind} ${name}`
