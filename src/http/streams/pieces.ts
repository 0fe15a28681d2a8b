/** Arguments are streamed in so many pieces at most, of so many characters at least. */
const mostPieces = 64
const shortestPiece = 16

/** A text in pieces that cut no character in two. */
export const piecesOf = (text: string): string[] => {
  const length = Math.max(shortestPiece, Math.ceil(text.length / mostPieces))
  const pieces: string[] = []
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at + length - 1)
    const end = at + length + (code >= 0xd800 && code < 0xdc00 ? 1 : 0)
    pieces.push(text.slice(at, end))
    at = end
  }
  return pieces
}
