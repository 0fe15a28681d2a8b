import { createPrivateKey, createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto'

/** The prefix of a private Ed25519 key in DER (RFC 8410). */
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex')

/** In the formats of C2SP signed-note. */
const ed25519 = 1
const keyIdSize = 4

/** A text is not a signed note, or lacks the expected signature. */
export class NoteInvalid extends Error {
  override readonly name = 'NoteInvalid'
}

/** Signs under a name; others check its signatures with `vkey`. */
export type Signer = { name: string; vkey: string; sign(text: string): string }

const rawOf = (key: KeyObject): Buffer =>
  Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url')

const keyIdOf = (name: string, key: Buffer): Buffer =>
  hash('sha256', Buffer.concat([Buffer.from(`${name}\n`), key]), 'buffer').subarray(0, keyIdSize)

/** A signer from the 32 bytes of an Ed25519 seed. The name has no blanks and no plus sign. */
export const signerOf = (name: string, seed: Uint8Array): Signer => {
  const privateKey = createPrivateKey({
    key: Buffer.concat([pkcs8, seed]),
    format: 'der',
    type: 'pkcs8',
  })
  const key = Buffer.concat([Buffer.of(ed25519), rawOf(createPublicKey(privateKey))])
  const id = keyIdOf(name, key)
  return {
    name,
    vkey: `${name}+${id.toString('hex')}+${key.toString('base64')}`,
    sign(text) {
      const signature = Buffer.concat([id, sign(null, Buffer.from(text), privateKey)])
      return `${text}\n— ${name} ${signature.toString('base64')}\n`
    },
  }
}

const parsedKey = (vkey: string) => {
  const [name = '', id = '', ...rest] = vkey.trim().split('+')
  const key = Buffer.from(rest.join('+'), 'base64')
  if (key.length !== 33 || key[0] !== ed25519 || keyIdOf(name, key).toString('hex') !== id)
    throw new NoteInvalid('the key is not a verifier key (name+id+key) of Ed25519')
  const x = key.subarray(1).toString('base64url')
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  return { name, id, publicKey }
}

/** The text of a note that bears a signature by this verifier key. @throws NoteInvalid */
export const openedNote = (note: string, vkey: string): string => {
  const { name, id, publicKey } = parsedKey(vkey)
  const end = note.lastIndexOf('\n\n')
  const text = note.slice(0, end + 1)
  const signatures = note.slice(end + 2)
  if (end < 0 || !signatures.endsWith('\n')) throw new NoteInvalid('this is not a signed note')
  for (const line of signatures.split('\n')) {
    if (!line.startsWith(`— ${name} `)) continue
    const bytes = Buffer.from(line.slice(name.length + 3), 'base64')
    if (bytes.subarray(0, keyIdSize).toString('hex') !== id) continue
    if (verify(null, Buffer.from(text), publicKey, bytes.subarray(keyIdSize))) return text
    throw new NoteInvalid(`the signature by ${name} does not fit what is signed`)
  }
  throw new NoteInvalid(`there is no signature by ${name} with the key ${id}`)
}
