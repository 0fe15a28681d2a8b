import { type CipherKey, createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const nonceBytes = 12
const tagBytes = 16
const cipher = 'aes-256-gcm'

/** Random bytes for many nonces are drawn at once; none is used twice. */
const nonces = () => {
  let pool = Buffer.alloc(0)
  let next = 0
  return (): Buffer => {
    if (next + nonceBytes > pool.length) {
      pool = randomBytes(nonceBytes * 512)
      next = 0
    }
    next += nonceBytes
    return pool.subarray(next - nonceBytes, next)
  }
}

const nextNonce = nonces()

/** nonce | ciphertext | tag, bound to a name. */
export const encrypted = (key: CipherKey, name: string, plain: Uint8Array): Buffer => {
  const nonce = nextNonce()
  const sealing = createCipheriv(cipher, key, nonce, { authTagLength: tagBytes })
  sealing.setAAD(Buffer.from(name))
  const text = sealing.update(plain)
  return Buffer.concat([nonce, text, sealing.final(), sealing.getAuthTag()])
}

/** Undefined when key, name or bytes differ from those of the sealing. */
export const decrypted = (key: CipherKey, name: string, box: Uint8Array): Buffer | undefined => {
  if (box.length < nonceBytes + tagBytes) return undefined
  try {
    const opening = createDecipheriv(cipher, key, box.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    })
    opening.setAAD(Buffer.from(name))
    opening.setAuthTag(box.subarray(-tagBytes))
    const text = opening.update(box.subarray(nonceBytes, -tagBytes))
    return Buffer.concat([text, opening.final()])
  } catch {
    return undefined
  }
}
