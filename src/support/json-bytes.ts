/** Memory is taken so many bytes at a time. */
const slabBytes = 65_536
/** Longer texts are looked at and copied faster by V8 and node. */
const longest = 64
/** Deeper values are not written. */
const deepest = 100
/** What does not stand in JSON as it is, or is more than a byte. */
const special = /[^ !#-[\]-~]/

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const backslash = 0x5c
const listBegins = 0x5b
const listEnds = 0x5d
const fieldsBegin = 0x7b
const fieldsEnd = 0x7d

const none = Buffer.alloc(0)

const isPlain = (value: object): boolean =>
  Object.getPrototypeOf(value) === Object.prototype && !('toJSON' in value)

/**
 * Writes values as JSON into memory, byte by byte. The text that JSON.stringify makes, with its parts and
 * its encoding, costs three times its length of V8's heap. As many bytes as are asked for are left free before and
 * after each value.
 */
export const jsonBytes = ({ before = 0, after = 0 } = {}) => {
  let slab = none
  /** Where the value under way begins, and where its next byte goes. */
  let from = 0
  let at = 0

  const makeRoom = (bytes: number): void => {
    if (at + bytes <= slab.length) return
    const size = Math.max(slabBytes, 2 * (at - from + bytes))
    const larger = Buffer.allocUnsafeSlow(size)
    slab.copy(larger, 0, from, at)
    slab = larger
    at -= from
    from = 0
  }

  const writeAscii = (text: string): void => {
    makeRoom(text.length)
    for (let n = 0; n < text.length; n++) slab[at++] = text.charCodeAt(n)
  }

  const writeByte = (byte: number): void => {
    makeRoom(1)
    slab[at++] = byte
  }

  const writeAny = (text: string): void => {
    if (special.test(text)) {
      const json = JSON.stringify(text)
      makeRoom(Buffer.byteLength(json))
      at += slab.write(json, at)
      return
    }
    makeRoom(text.length + 2)
    slab[at++] = quote
    at += slab.write(text, at, 'latin1')
    slab[at++] = quote
  }

  /** Writes a short text that stands in JSON as it is; false where it does not. */
  const writePlain = (text: string): boolean => {
    const { length } = text
    makeRoom(length + 2)
    // Kept at hand, as most of all bytes are written in this loop.
    const bytes = slab
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

  const writeText = (text: string): void => {
    if (text.length > longest || !writePlain(text)) writeAny(text)
  }

  const writeList = (list: readonly unknown[], depth: number): boolean => {
    if ('toJSON' in list) return false
    writeByte(listBegins)
    for (let n = 0; n < list.length; n++) {
      if (n > 0) writeByte(comma)
      if (!write(list[n], depth)) return false
    }
    writeByte(listEnds)
    return true
  }

  const writeFields = (fields: Readonly<Record<string, unknown>>, depth: number): boolean => {
    if (!isPlain(fields)) return false
    writeByte(fieldsBegin)
    let isFirst = true
    for (const name in fields) {
      if (!isFirst) writeByte(comma)
      isFirst = false
      writeText(name)
      writeByte(colon)
      if (!write(fields[name], depth)) return false
    }
    writeByte(fieldsEnd)
    return true
  }

  const write = (value: unknown, depth: number): boolean => {
    if (typeof value === 'string') {
      writeText(value)
      return true
    }
    if (typeof value === 'number') {
      if (!Number.isFinite(value) || Object.is(value, -0)) return false
      writeAscii(String(value))
      return true
    }
    if (typeof value === 'boolean' || value === null) {
      writeAscii(String(value))
      return true
    }
    if (typeof value !== 'object' || depth === deepest) return false
    return Array.isArray(value)
      ? writeList(value, depth + 1)
      : writeFields(value as Readonly<Record<string, unknown>>, depth + 1)
  }

  /** The memory of a large value is not used for what follows, which would keep all of it. */
  const letGo = (): void => {
    if (slab.length <= slabBytes) return
    slab = none
    at = 0
  }

  const end = (): Buffer => {
    makeRoom(after)
    at += after
    const written = slab.subarray(from, at)
    if (slab.length <= slabBytes) return written
    letGo()
    // Up to half of what was taken for it is free.
    return Buffer.from(written)
  }

  /**
   * A value as JSON.stringify writes it. Undefined unless it is the same again once it is read, and for very deep
   * values. What was written is not touched again. What is kept of it keeps 64 KB at most besides itself.
   */
  return (value: unknown): Buffer | undefined => {
    from = at
    makeRoom(before)
    at += before
    if (write(value, 0)) return end()
    at = from
    letGo()
    return undefined
  }
}
