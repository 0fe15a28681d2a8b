import { areEqual, type Bytes, fromBase64, joined, textOf, toHex, utf8 } from './bytes.ts'
import { malformed, VerificationFailed } from './failure.ts'
import { type Subtle, sha256, verifyEd25519 } from './web-crypto.ts'

/** A key that verifies signed notes, in the parts of its text `name+id+key`. */
export type VerifierKey = { text: string; name: string; id: Bytes; publicKey: Bytes }

/** In the formats of C2SP signed-note. */
const ed25519 = 1
const keyIdSize = 4
const [keySize, signatureSize] = [32, 64]
/** Specifications require at least 16; a key's own lines are verified one by one. */
const maxSignatures = 64

const keyText = /^([^\s+]+)\+([0-9a-f]{8})\+(\S+)$/u

/** A verifier key from its text. @throws VerificationFailed */
export const parseVerifierKey = async (subtle: Subtle, text: string): Promise<VerifierKey> => {
  const [, name = '', id = '', base64 = ''] = keyText.exec(text) ?? []
  const key = fromBase64(base64)
  if (name === '' || !key) throw malformed('key', 'it is not of the form name+id+key')
  if (key[0] !== ed25519 || key.length !== 1 + keySize)
    throw malformed('key', 'it is not a key of Ed25519')
  const hash = await sha256(subtle, joined(utf8(`${name}\n`), key))
  const keyId = hash.slice(0, keyIdSize)
  if (toHex(keyId) !== id) throw malformed('key', 'its id does not belong to its name and key')
  return { text, name, id: keyId, publicKey: key.slice(1) }
}

const signatureLine = /^— ([^\s+]+) (\S+)$/u

/** Name, key id and signature in a signature line. @throws VerificationFailed */
const parseSignature = (line: string) => {
  const [, name = '', base64 = ''] = signatureLine.exec(line) ?? []
  const bytes = fromBase64(base64)
  if (name === '' || !bytes || bytes.length <= keyIdSize)
    throw malformed('checkpoint', 'a signature line has not the form "— name base64"')
  return { name, id: bytes.slice(0, keyIdSize), signature: bytes.slice(keyIdSize) }
}

const isControl = (byte: number) => byte < 0x20 && byte !== 0x0a

/** The signed text and the signature lines. @throws VerificationFailed */
const parseNote = (bytes: Bytes) => {
  const note = textOf(bytes)
  if (note === undefined || bytes.some(isControl))
    throw malformed('checkpoint', 'it is not text in UTF-8')
  const end = note.lastIndexOf('\n\n')
  if (end < 0 || !note.endsWith('\n'))
    throw malformed('checkpoint', 'it is not a text, an empty line and signatures')
  const lines = note.slice(end + 2, -1).split('\n')
  if (lines.length > maxSignatures)
    throw malformed('checkpoint', `it has more than ${maxSignatures} signatures`)
  return { text: note.slice(0, end + 1), signatures: lines.map(parseSignature) }
}

/**
 * The text of a note that is signed with this key (C2SP signed-note). Signatures of other keys are
 * ignored; one wrong signature of this key rejects the note. @throws VerificationFailed
 */
export const openNote = async (subtle: Subtle, bytes: Bytes, key: VerifierKey): Promise<string> => {
  const { text, signatures } = parseNote(bytes)
  const own = signatures.filter(({ name, id }) => name === key.name && areEqual(id, key.id))
  if (own.length === 0) throw new VerificationFailed({ reason: 'signature_missing', key: key.text })
  for (const { signature } of own) {
    const { publicKey } = key
    const isValid =
      signature.length === signatureSize &&
      (await verifyEd25519(subtle, { publicKey, signature, text }))
    if (!isValid) throw new VerificationFailed({ reason: 'signature_wrong', key: key.text })
  }
  return text
}
