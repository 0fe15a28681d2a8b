import { cutPlace } from '../../support/cut-text.ts'

/** Arguments are streamed in so many pieces at most, of so many characters at least. */
const mostPieces = 64
const shortestPiece = 16

/** A text in pieces that cut no character in two. */
export const piecesOf = (text: string): string[] => {
  const usual = Math.max(shortestPiece, Math.ceil(text.length / mostPieces))
  const pieces: string[] = []
  for (let at = 0, end = 0; at < text.length; at = end) {
    for (let length = usual; end <= at; length *= 2) end = cutPlace(text, at + length)
    pieces.push(text.slice(at, end))
  }
  return pieces
}
