/**
 * A text in the form in which secrets are looked for, as codes of characters. The one at n stands
 * for those of the text from `starts[n]` to `ends[n]`.
 */
export type CanonicalText = { codes: Uint16Array; startOffsets: Int32Array; endOffsets: Int32Array }

/** Escapes in escapes: JSON in JSON, in an address, in HTML. */
const mostRounds = 4

/**
 * Percent encoding; escapes of JSON and JavaScript; character references of HTML by number and by
 * name.
 */
const escapes =
  /%([0-9a-f]{2})|\\u([0-9a-f]{4})|\\u\{0*([0-9a-f]{1,6})\}|\\x([0-9a-f]{2})|\\([\x20-\x7e])|&#x0*([0-9a-f]{1,6});?|&#0*(\d{1,7});?|&([a-z]{2,8});/gi

/** HTML's names of ASCII punctuation. */
const references: Readonly<Record<string, string>> = {
  amp: '&',
  apos: "'",
  ast: '*',
  bsol: '\\',
  colon: ':',
  comma: ',',
  commat: '@',
  dollar: '$',
  equals: '=',
  excl: '!',
  grave: '`',
  gt: '>',
  hat: '^',
  lbrace: '{',
  lbrack: '[',
  lcub: '{',
  lowbar: '_',
  lpar: '(',
  lsqb: '[',
  lt: '<',
  midast: '*',
  nbsp: ' ',
  newline: '\n',
  num: '#',
  percnt: '%',
  period: '.',
  plus: '+',
  quest: '?',
  quot: '"',
  rbrace: '}',
  rbrack: ']',
  rcub: '}',
  rpar: ')',
  rsqb: ']',
  semi: ';',
  sol: '/',
  tab: '\t',
  underbar: '_',
  verbar: '|',
  vert: '|',
}

/** Line breaks within base64 are ignored. */
const spacing = new Set(['n', 'r', 't', 'f', 'b', 'v'])

/** The code of the character that an escape stands for; undefined where it is none. */
const meaningOf = (match: RegExpExecArray): number | undefined => {
  const [, percent, unicode, braced, hex, plain, hexReference, reference, name] = match
  const code = percent ?? unicode ?? braced ?? hex ?? hexReference
  if (code !== undefined) return Number.parseInt(code, 16)
  if (reference !== undefined) return Number(reference)
  if (plain !== undefined) return spacing.has(plain) ? 0 : plain.charCodeAt(0)
  return name === undefined ? undefined : references[name.toLowerCase()]?.charCodeAt(0)
}

const textOf = (codes: Uint16Array): string =>
  Buffer.from(codes.buffer, codes.byteOffset, codes.byteLength).toString('utf16le')

/** A text that grows by characters, each of which stands for some of another text. */
const builder = (size: number) => {
  const codes = new Uint16Array(size)
  const startOffsets = new Int32Array(size)
  const endOffsets = new Int32Array(size)
  let length = 0
  return {
    add(code: number, start: number, end: number): void {
      codes[length] = code
      startOffsets[length] = start
      endOffsets[length] = end
      length++
    },
    built: (): CanonicalText => ({ codes: codes.subarray(0, length), startOffsets, endOffsets }),
  }
}

/** The same without one layer of escapes; undefined where there is none. */
const unescaped = ({
  codes,
  startOffsets,
  endOffsets,
}: CanonicalText): CanonicalText | undefined => {
  const { add, built } = builder(codes.length)
  let from = 0
  const copy = (to: number): void => {
    for (; from < to; from++) add(codes[from] ?? 0, startOffsets[from] ?? 0, endOffsets[from] ?? 0)
  }
  for (const match of textOf(codes).matchAll(escapes)) {
    const { index } = match
    const meaning = meaningOf(match)
    if (meaning === undefined) continue
    copy(index)
    from = index + match[0].length
    add(meaning, startOffsets[index] ?? 0, endOffsets[from - 1] ?? 0)
  }
  if (from === 0) return undefined
  copy(codes.length)
  return built()
}

/** `-` and `_` of base64 in addresses are its `+` and `/`, and in forms a `+` is a space. */
const alike: ReadonlyMap<number, number> = new Map(
  [
    ['+', ' '],
    ['-', ' '],
    ['_', '/'],
  ].map(([from = '', to = '']) => [from.charCodeAt(0), to.charCodeAt(0)]),
)

/** Control characters and invisible characters. */
const isUnseen = (code: number): boolean =>
  code < 0x20 ||
  code === 0x7f ||
  code === 0xad ||
  (code >= 0x200b && code <= 0x200f) ||
  code === 0xfeff

/** Without what is not seen, in lower case, and with signs that encodings exchange made alike. */
const folded = ({ codes, startOffsets, endOffsets }: CanonicalText): CanonicalText => {
  const { add, built } = builder(codes.length)
  codes.forEach((code, n) => {
    if (isUnseen(code)) return
    const plain = code >= 0x41 && code <= 0x5a ? code + 0x20 : (alike.get(code) ?? code)
    add(plain, startOffsets[n] ?? 0, endOffsets[n] ?? 0)
  })
  return built()
}

/** The codes of a text's characters. */
export const codesOf = (text: string): Uint16Array => {
  const codes = new Uint16Array(text.length)
  for (let n = 0; n < text.length; n++) codes[n] = text.charCodeAt(n)
  return codes
}

/**
 * The text without escapes of JSON, addresses, forms and HTML, also one in another; in lower case
 * and without what is not seen. In linear time.
 */
export const canonical = (text: string): CanonicalText => {
  let current = folded({
    codes: codesOf(text),
    startOffsets: Int32Array.from({ length: text.length }, (_, n) => n),
    endOffsets: Int32Array.from({ length: text.length }, (_, n) => n + 1),
  })
  for (let round = 0; round < mostRounds; round++) {
    const next = unescaped(current)
    if (!next) break
    current = next
  }
  return folded(current)
}

/** The characters of base64 that a value alone decides, wherever in the encoded bytes it begins. */
const base64Of = (value: string): string[] =>
  [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(value)])
    const bits = 8 * bytes.length
    return bytes.toString('base64').slice(Math.ceil((8 * before) / 6), Math.floor(bits / 6))
  })

/** Shorter values occur by chance. */
const shortestForm = 4

/** The forms in which a canonical text may have a value: plain, in base64 and in hex. */
export const canonicalForms = (value: string): Uint16Array[] => {
  const forms = [value, ...base64Of(value), Buffer.from(value).toString('hex')]
  return forms.map((form) => canonical(form).codes).filter(({ length }) => length >= shortestForm)
}
