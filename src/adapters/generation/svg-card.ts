import { cutText } from '../../support/cut-text.ts'

const width = 768
const perLine = 34
const maxLines = 8

/** Characters that no XML document may have, not even escaped. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is replaced
const forbidden = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g

const escaped = (text: string): string =>
  text
    .toWellFormed()
    .replace(forbidden, '\ufffd')
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

/** Wraps words into lines; a text that is too long ends with an ellipsis. */
const linesOf = (text: string): string[] => {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const short = cutText(word, perLine)
    if (line !== '' && line.length + 1 + short.length > perLine) {
      lines.push(line)
      line = ''
    }
    line = line === '' ? short : `${line} ${short}`
  }
  if (line !== '') lines.push(line)
  return lines.length <= maxLines ? lines : [...lines.slice(0, maxLines - 1), '…']
}

/** A card with the prompt, in colours that come from the seed of at least 8 bytes. */
export const svgCard = (prompt: string, seed: Buffer): Uint8Array => {
  const hue = seed.readUInt16BE(0) % 360
  const circles = [1, 2, 3].map((n) => {
    const [x, y, r] = [seed[n] ?? 0, seed[n + 2] ?? 0, seed[n + 4] ?? 0]
    return `<circle cx="${x * 3}" cy="${y * 2}" r="${40 + (r >> 1)}" fill="hsl(${(hue + n * 40) % 360} 70% 60%)" opacity="0.35"/>`
  })
  const lines = linesOf(prompt).map(
    (line, n) => `<text x="48" y="${110 + n * 46}">${escaped(line)}</text>`,
  )
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} 512" role="img"><title>${escaped(cutText(prompt, 200))}</title><rect width="${width}" height="512" fill="hsl(${hue} 45% 18%)"/>${circles.join('')}<g font-family="sans-serif" font-size="34" fill="#fff">${lines.join('')}</g></svg>`
  return Buffer.from(svg)
}
