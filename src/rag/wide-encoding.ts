/** How many bytes of a text are looked at. */
const sampleSize = 65_536

/** The most characters, in the right encoding, that people do not write. */
const mostOdd = 0.02
/** The least with the high byte of one script, or 0 as spaces and line ends have it. */
const leastInScript = 0.75
const leastInHan = 0.9
/** The least that are ASCII in texts without one script. */
const leastAscii = 0.3
/** The most pairs of bytes that are both lower-case letters; Latin text has more. */
const mostLetterPairs = 0.15

// biome-ignore lint/suspicious/noControlCharactersInRegex: what texts do not consist of
const odd = /[\p{Cn}\p{Cs}\p{Co}\0-\x08\x0e-\x1f\x7f]/gu
const plain = /[\t\n\r -~]/g
const han =
  /[\t\n\r -~\p{Script=Han}\p{Script=Hangul}\p{Script=Hira}\p{Script=Kana}\p{Po}\p{Ps}\p{Pe}\u3000\u30fc\uff00-\uffef]/gu

const count = (text: string, what: RegExp): number => text.match(what)?.length ?? 0

const marks = [
  ['utf-32le', [0xff, 0xfe, 0, 0]],
  ['utf-32be', [0, 0, 0xfe, 0xff]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
] as const
type Wide = (typeof marks)[number][0]

/** By the byte order mark that a text begins with. */
const marked = (bytes: Buffer): Wide | undefined =>
  marks.find(([, mark]) => mark.every((byte, n) => bytes[n] === byte))?.[0]

/** The first text of bytes whose units are two bytes long, and those units' high bytes. */
const utf16 = (bytes: Buffer, high: 0 | 1) => {
  const text = Buffer.from(bytes)
  if (high === 0) text.swap16()
  const counts = new Uint32Array(256)
  for (let n = high; n < bytes.length; n += 2) {
    const byte = bytes[n] ?? 0
    counts[byte] = (counts[byte] ?? 0) + 1
  }
  return { text: text.toString('utf16le'), counts, units: bytes.length / 2 }
}

/** Whether the characters are of one script, whose high byte is in no ASCII text. */
const isInScript = ({ counts, units }: ReturnType<typeof utf16>): boolean => {
  const own = Math.max(...counts.subarray(1, 0x20), counts[0x30] ?? 0)
  return (counts[0] ?? 0) + own >= leastInScript * units
}

const hasLetterPairs = (bytes: Buffer): boolean => {
  const isLetter = (byte = 0) => byte >= 0x61 && byte <= 0x7a
  let pairs = 0
  for (let n = 1; n < bytes.length; n++) if (isLetter(bytes[n - 1]) && isLetter(bytes[n])) pairs++
  return pairs > mostLetterPairs * bytes.length
}

/** Characters of four bytes: no other text has units that are all code points. */
const utf32 = (bytes: Buffer): Wide | undefined => {
  if (bytes.length % 4 !== 0) return undefined
  const isText = (read: (at: number) => number): boolean => {
    let text = ''
    for (let at = 0; at < bytes.length; at += 4) {
      const code = read(at)
      if (code === 0 || code > 0x10ffff) return false
      text += String.fromCodePoint(code)
    }
    return count(text, odd) <= mostOdd * (bytes.length / 4)
  }
  if (isText((at) => bytes.readUInt32LE(at))) return 'utf-32le'
  return isText((at) => bytes.readUInt32BE(at)) ? 'utf-32be' : undefined
}

/** UTF-16 without a mark: its spaces, digits and line ends have a byte 0. */
const unmarked = (bytes: Buffer, isUtf8: boolean): Wide | undefined => {
  if (bytes.length % 2 !== 0 || hasLetterPairs(bytes)) return undefined
  const readings = [utf16(bytes, 1), utf16(bytes, 0)].map((reading) => ({
    ...reading,
    odd: count(reading.text, odd),
    highs: reading.counts.filter((times) => times > 0).length,
  }))
  const isText = (reading: (typeof readings)[number]): boolean => {
    const { text, units } = reading
    const ascii = count(text, plain)
    if (ascii === 0 || reading.odd > mostOdd * units) return false
    if (isInScript(reading) || ascii >= leastAscii * units) return true
    return !isUtf8 && count(text, han) >= leastInHan * units
  }
  const [best] = readings
    .filter(isText)
    .toSorted((left, right) => left.odd - right.odd || left.highs - right.highs)
  if (!best) return undefined
  return best === readings[0] ? 'utf-16le' : 'utf-16be'
}

/** UTF-16 or UTF-32, with or without a byte order mark; undefined for narrower encodings. */
export const wideEncoding = (bytes: Buffer, isUtf8: boolean): Wide | undefined => {
  const known = marked(bytes)
  if (known || bytes.length === 0) return known
  const sample = bytes.length > sampleSize ? bytes.subarray(0, sampleSize) : bytes
  return sample.includes(0) ? (utf32(sample) ?? unmarked(sample, isUtf8)) : undefined
}
