import { type CipherKey, createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const nonceBytes = 12
/** The size of every key. */
export const keyBytes = 32
const tagBytes = 16
const cipher = 'aes-256-gcm'
const options = { authTagLength: tagBytes }

/** Random bytes of this length. They are drawn for many at once, and none is handed out twice. */
const randomDraws = (length: number, atOnce: number) => {
  let pool = Buffer.alloc(0)
  let used = 0
  return (): Uint8Array => {
    if (used === pool.length) {
      pool = randomBytes(length * atOnce)
      used = 0
    }
    used += length
    return pool.subarray(used - length, used)
  }
}

const nextNonce = randomDraws(nonceBytes, 512)

/** A new random key. It holds the memory of as many as are drawn at once: few. */
export const newKey = randomDraws(keyBytes, 16)

/** nonce | ciphertext | tag, bound to a name. A text is sealed as UTF-8. */
export const encrypted = (key: CipherKey, name: string, plain: string | Uint8Array): Buffer => {
  const nonce = nextNonce()
  const sealing = createCipheriv(cipher, key, nonce, options)
  sealing.setAAD(Buffer.from(name))
  const text = typeof plain === 'string' ? sealing.update(plain, 'utf8') : sealing.update(plain)
  // In this mode nothing of the text is left for the end.
  sealing.final()
  const box = Buffer.allocUnsafe(nonceBytes + text.length + tagBytes)
  box.set(nonce)
  box.set(text, nonceBytes)
  box.set(sealing.getAuthTag(), nonceBytes + text.length)
  return box
}

/** Undefined when key, name or bytes differ from those of the sealing. */
export const decrypted = (key: CipherKey, name: string, box: Uint8Array): Buffer | undefined => {
  if (box.length < nonceBytes + tagBytes) return undefined
  try {
    const opening = createDecipheriv(cipher, key, box.subarray(0, nonceBytes), options)
    opening.setAAD(Buffer.from(name))
    opening.setAuthTag(box.subarray(-tagBytes))
    const text = opening.update(box.subarray(nonceBytes, -tagBytes))
    return Buffer.concat([text, opening.final()])
  } catch {
    return undefined
  }
}
