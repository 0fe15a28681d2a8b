import { piecesIn } from '../../agents/tokens.ts'
import type { FinishReason, ModelSettings } from '../../ports/model.ts'
import { cutText } from '../../support/cut-text.ts'

/** The longest beginning of a text that has so many pieces. */
const beginning = (text: string, pieces: number): string => {
  if (piecesIn(text) <= pieces) return text
  let fits = 0
  let exceeds = text.length
  while (exceeds - fits > 1) {
    const middle = (fits + exceeds) >> 1
    if (piecesIn(text.slice(0, middle)) <= pieces) fits = middle
    else exceeds = middle
  }
  return cutText(text, fits)
}

/** A text up to the first of `stop`, with no more tokens than allowed. */
export const limitedText = (
  text: string,
  { stop = [], maxTokens, maxCompletionTokens }: ModelSettings,
): { text: string; finishReason: FinishReason } => {
  const most = maxCompletionTokens ?? maxTokens
  if (stop.length === 0 && most === undefined) return { text, finishReason: 'stop' }
  const places = stop.map((mark) => text.indexOf(mark)).filter((at) => at !== -1)
  const upToStop = text.slice(0, Math.min(text.length, ...places))
  const limited = beginning(upToStop, most ?? Number.POSITIVE_INFINITY)
  return { text: limited, finishReason: limited === upToStop ? 'stop' : 'length' }
}
