/** Memory in which texts become bytes is taken so much at a time. */
const usualBytes = 65_536

/** Longer texts are looked at and written faster by V8 and node, which take many characters at once. */
const shortText = 64
/** What does not stand in JSON as it is, or is more than a byte. */
const special = /[^ !#-[\]-~]/

const quote = 0x22
const backslash = 0x5c

const none = Buffer.alloc(0)

let room = none
/** Where the bytes under way begin, and where the next goes. */
let from = 0
let at = 0

const reserve = (more: number): void => {
  if (at + more <= room.length) return
  const larger = Buffer.allocUnsafeSlow(Math.max(usualBytes, 2 * (at - from + more)))
  room.copy(larger, 0, from, at)
  room = larger
  at -= from
  from = 0
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

/** Writes a short text that stands in JSON as it is; false where it does not. */
const wrotePlain = (text: string): boolean => {
  const { length } = text
  // Kept at hand, as most of all bytes are written in this loop.
  const bytes = room
  let to = at
  bytes[to++] = quote
  for (let n = 0; n < length; n++) {
    const code = text.charCodeAt(n)
    if (code < 0x20 || code > 0x7e || code === quote || code === backslash) return false
    bytes[to++] = code
  }
  bytes[to++] = quote
  at = to
  return true
}

const json = (text: string): void => {
  reserve(text.length + 2)
  if (text.length <= shortText && wrotePlain(text)) return
  if (text.length <= shortText || special.test(text)) {
    write(JSON.stringify(text))
    return
  }
  room[at++] = quote
  at += room.write(text, at, 'latin1')
  room[at++] = quote
}

export type Writing = {
  /** Bytes that are UTF-8 already. */
  put(bytes: Uint8Array): void
  write(text: string): void
  /** Writes a text as JSON, without making that text where it is plain. */
  json(text: string): void
  /** How many bytes were written. */
  length(): number
  /** Takes back all but so many of them. */
  cut(length: number): void
}

const writing: Writing = {
  put,
  write,
  json,
  length: () => at - from,
  cut(length) {
    at = from + length
  },
}

/**
 * Many short texts as UTF-8. They are put together in memory that all share, so `compose` must not wait nor call this
 * again. What is kept of it keeps 64 KB at most besides itself. One text of them all would take twice their bytes or
 * more, and be copied when it is measured and when it is sent.
 */
export const utf8Of = (compose: (to: Writing) => void): Buffer => {
  from = at
  compose(writing)
  const bytes = room.subarray(from, at)
  if (room.length <= usualBytes) return bytes
  // Much of it is free, and it would be kept by all that follows.
  room = none
  at = 0
  return Buffer.from(bytes)
}
