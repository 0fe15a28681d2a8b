/** Bytes as WebCrypto takes them. */
export type Bytes = Uint8Array<ArrayBuffer>

const encoder = new TextEncoder()

export const utf8 = (text: string): Bytes => new Uint8Array(encoder.encode(text))

/** The text of UTF-8, byte order marks included; undefined for other bytes. */
export const textOf = (bytes: Bytes): string | undefined => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

export const joined = (...parts: readonly Uint8Array[]): Bytes => {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

export const areEqual = (left: Uint8Array, right: Uint8Array): boolean =>
  left.length === right.length && left.every((byte, n) => byte === right[n])

export const toHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

export const toBase64 = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))

const alphabet = /^[A-Za-z0-9+/]*={0,2}$/

/** The bytes of standard, canonical base64 (RFC 4648, section 4); undefined for other text. */
export const fromBase64 = (text: string): Bytes | undefined => {
  if (!alphabet.test(text) || text.length % 4 !== 0) return undefined
  try {
    const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
    return toBase64(bytes) === text ? bytes : undefined
  } catch {
    return undefined
  }
}
