import { type Refusal, refusal } from '../../domain/refusal.ts'
import { hasLoneSurrogate, isTooComplex } from '../../support/json-text.ts'

/** Of a whole body or frame; JSON whose form clients choose is bounded more closely. */
const most = { depth: 64, nodes: 200_000 }

/** Why a text is not parsed: it holds more JSON than is built of one request. */
export const complexity = (text: string): Refusal | undefined =>
  isTooComplex(text, most)
    ? refusal('too_complex', {
        message: `JSON has at most ${most.depth} levels and ${most.nodes} values`,
      })
    : undefined

/** Why a parsed text is refused: it has strings that UTF-8 cannot hold. */
export const malformation = (text: string, value: unknown): Refusal | undefined =>
  hasLoneSurrogate(text, value)
    ? refusal('invalid_json', { message: 'A string has half of a surrogate pair' })
    : undefined
