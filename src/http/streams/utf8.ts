/** Memory in which texts become bytes, and how far it may grow and still be kept. */
const usualBytes = 16_384
const keptBytes = 262_144

/** Longer texts are written faster by node, which looks at many characters at once. */
const shortText = 64

let room = Buffer.allocUnsafeSlow(usualBytes)
let at = 0

const reserve = (more: number): void => {
  if (at + more <= room.length) return
  const larger = Buffer.allocUnsafeSlow(Math.max(2 * room.length, at + more))
  room.copy(larger, 0, 0, at)
  room = larger
}

const put = (bytes: Uint8Array): void => {
  reserve(bytes.length)
  room.set(bytes, at)
  at += bytes.length
}

const write = (text: string): void => {
  // No character of a text takes more.
  reserve(3 * text.length)
  let n = 0
  if (text.length <= shortText)
    for (; n < text.length; n++) {
      const code = text.charCodeAt(n)
      if (code >= 0x80) break
      room[at++] = code
    }
  if (n < text.length) at += room.write(n === 0 ? text : text.slice(n), at)
}

const quote = 0x22

const isPlain = (code: number): boolean =>
  code >= 0x20 && code < 0x80 && code !== quote && code !== 0x5c

const json = (text: string): void => {
  const { length } = text
  reserve(length + 2)
  let n = 0
  if (length <= shortText)
    for (; n < length; n++) {
      const code = text.charCodeAt(n)
      if (!isPlain(code)) break
      room[at + 1 + n] = code
    }
  if (n < length) {
    write(JSON.stringify(text))
    return
  }
  room[at] = quote
  room[at + 1 + n] = quote
  at += n + 2
}

export type Writing = {
  /** Bytes that are UTF-8 already. */
  put(bytes: Uint8Array): void
  write(text: string): void
  /** Writes a text as JSON, without making that text where it is short and plain. */
  json(text: string): void
}

const writing: Writing = { put, write, json }

/**
 * Many short texts as UTF-8. They are put together in memory that all share, so `compose` must not wait nor call this
 * again. One text of them all would take twice their bytes or more, and be copied when it is measured and when it is
 * sent.
 */
export const utf8Of = (compose: (to: Writing) => void): Buffer => {
  at = 0
  compose(writing)
  const bytes = Buffer.allocUnsafe(at)
  room.copy(bytes, 0, 0, at)
  if (room.length > keptBytes) room = Buffer.allocUnsafeSlow(usualBytes)
  return bytes
}
