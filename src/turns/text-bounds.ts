import { refusal } from '../domain/refusal.ts'
import type { ChatMessage } from '../ports/model.ts'

/** In bytes of UTF-8 (docs/contract/limits.md#sizes). */
const mostOfMessage = 1_048_576
const mostOfRequest = 4 * mostOfMessage
/** A UTF-16 unit is at most 3 bytes of UTF-8. */
const mostBytesOfUnit = 3

const isWithin = (text: string, most: number): boolean =>
  text.length * mostBytesOfUnit <= most || Buffer.byteLength(text) <= most

type Texts = { message: string; system: readonly ChatMessage[]; before: readonly ChatMessage[] }

/** Refuses texts that are too long for one turn. @throws payload_too_large */
export const requireShortTexts = ({ message, system, before }: Texts): void => {
  const texts = [message, ...[...system, ...before].map(({ content }) => content)]
  if (!texts.every((text) => isWithin(text, mostOfMessage)))
    throw refusal('payload_too_large', { message: 'A message is larger than 1 MB' })
  const units = texts.reduce((sum, { length }) => sum + length, 0)
  if (units * mostBytesOfUnit <= mostOfRequest) return
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  if (bytes > mostOfRequest)
    throw refusal('payload_too_large', {
      message: 'The messages of a request are larger than 4 MB together',
    })
}
