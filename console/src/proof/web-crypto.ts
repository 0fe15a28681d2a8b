import { type Bytes, fromBase64, utf8 } from './bytes.ts'
import type { Unsupported } from './failure.ts'

/** The part of WebCrypto that verification uses. */
export type Subtle = Pick<typeof globalThis.crypto.subtle, 'digest' | 'importKey' | 'verify'>

/** `globalThis.crypto`; `subtle` is missing on pages that are neither HTTPS nor localhost. */
export type WebCrypto = { readonly subtle?: Subtle | undefined }

export const sha256 = async (subtle: Subtle, bytes: Bytes): Promise<Bytes> =>
  new Uint8Array(await subtle.digest('SHA-256', bytes))

/** Whether a signature is valid; false for bytes that are no key or no signature. */
export const verifyEd25519 = async (
  subtle: Subtle,
  { publicKey, signature, text }: { publicKey: Bytes; signature: Bytes; text: string },
): Promise<boolean> => {
  const ed25519 = { name: 'Ed25519' }
  try {
    const key = await subtle.importKey('raw', publicKey, ed25519, false, ['verify'])
    return await subtle.verify(ed25519, key, signature, utf8(text))
  } catch {
    return false
  }
}

/** The first example of RFC 8032, section 7.1: the signature of an empty text. */
const example = {
  publicKey: fromBase64('11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=') ?? new Uint8Array(),
  signature:
    fromBase64(
      '5VZDAMNgrHKQhuLMgG6CioSHfx645dl02HPgZSJJAVVfuIIVkKM7rMYeOXAc+bRr0lv18FlbviRlUUFDjnoQCw==',
    ) ?? new Uint8Array(),
}

/**
 * What the browser lacks, if anything. Ed25519 is in Chrome from 137, Firefox from 129, and Safari
 * from 17; a browser counts as capable once it tells a known signature from a wrong one.
 */
export const unsupportedIn = async (
  subtle: Subtle | undefined,
): Promise<Unsupported | undefined> => {
  if (!subtle) return 'webcrypto'
  const accepts = (text: string) => verifyEd25519(subtle, { ...example, text })
  return (await accepts('')) && !(await accepts('x')) ? undefined : 'ed25519'
}
