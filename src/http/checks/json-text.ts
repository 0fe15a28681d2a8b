import { type Refusal, refusal } from '../../domain/refusal.ts'
import { hasLoneSurrogate, hasName, isTooComplex } from '../../support/json-text.ts'

const depth = 64
/** The values of a body of one agent, or of a request with a conversation. */
export const agentValues = 20_000
export const conversationValues = 50_000

/** Why a text is not parsed: it holds more JSON than is built of one request. */
export const complexity = (text: string, nodes = 2_000): Refusal | undefined =>
  isTooComplex(text, { depth, nodes })
    ? refusal('too_complex', {
        message: `JSON has at most ${depth} levels and ${nodes} values here`,
      })
    : undefined

/** Marks what the platform has sealed: input that has it could pass for that. */
const reserved = '$sealed'

/** What every text has in it that has to be looked at more closely. */
const signs = ['\\u', reserved, '__proto__', '"constructor"', '\ufeff']

/**
 * Whether a text has no escapes and no suspicious names: whatever JSON.parse makes of it is fine.
 */
export const isHarmless = (text: string): boolean => !signs.some((sign) => text.includes(sign))

/**
 * Why a parsed text is refused: it has strings that UTF-8 cannot hold, or a property with a
 * reserved name.
 */
export const malformation = (text: string, value: unknown): Refusal | undefined => {
  if (hasLoneSurrogate(text, value))
    return refusal('invalid_json', { message: 'A string has half of a surrogate pair' })
  if (hasName(text, value, reserved))
    return refusal('reserved_name', { message: `No property may be named ${reserved}` })
  return undefined
}
