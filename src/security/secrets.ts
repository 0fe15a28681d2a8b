import {
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'
import { comparedEmail, earlierSpellings } from './email-address.ts'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const keyLength = 32
/** Bytes from here on are dropped: they would make the first letters more likely. */
const unbiased = 256 - (256 % alphabet.length)

/**
 * `svc_live_` (of an organization) or `svc_user_` (of a user), and 32 random letters and digits.
 */
export const newApiKey = (kind: 'live' | 'user'): string => {
  let random = ''
  while (random.length < keyLength)
    for (const byte of randomBytes(keyLength))
      if (byte < unbiased && random.length < keyLength) random += alphabet[byte % alphabet.length]
  return `svc_${kind}_${random}`
}

/** The token of a link or of a console session: 32 random bytes in base64url. */
export const newToken = (): string => randomBytes(32).toString('base64url')

/** The form of such a token; a browser may send anything. */
export const tokenForm = /^[\w-]{43}$/

/** Compares in constant time. */
export const sameSecret = (left: string, right: string): boolean => {
  const [a, b] = [Buffer.from(left), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}

const secretBytes = 32

/** The secret of a new installation. */
export const newSecret = (): Buffer => randomBytes(secretBytes)

/**
 * The secret of an installation from before secrets were random: what it derived from its first
 * MASTER_KEY stays as it was (the first step of HKDF-SHA-256 with an empty salt).
 */
export const secretFrom = (masterKey: Uint8Array): Buffer =>
  createHmac('sha256', '').update(masterKey).digest()

/** The key that wraps data keys, and the installation's secret, under a MASTER_KEY (32 bytes). */
export const wrapOf = (masterKey: Uint8Array): KeyObject =>
  createSecretKey(Buffer.from(hkdfSync('sha256', masterKey, '', 'reprise/wrap', secretBytes)))

/**
 * Everything derived from the installation's secret, which outlives its master keys. Each purpose
 * has a key of its own (HKDF-SHA-256, its second step), so that one key reveals nothing about
 * another. Hashes are HMAC-SHA-256 in hex.
 */
export const secretsOf = (secret: Uint8Array) => {
  const bytesOf = (purpose: string): Buffer =>
    createHmac('sha256', secret).update(`reprise/${purpose}`).update(Buffer.of(1)).digest()
  const derived = (purpose: string): KeyObject => createSecretKey(bytesOf(purpose))
  const hasher = (purpose: string) => {
    const key = derived(purpose)
    return (text: string, body: string | Uint8Array = ''): string =>
      createHmac('sha256', key).update(text).update(body).digest('hex')
  }
  const emailHash = hasher('email')
  const identityHash = hasher('identity')
  return {
    /** Signs links. */
    links: derived('links'),
    hashApiKey: hasher('api-key'),
    hashLinkToken: hasher('connect-link'),
    hashConsoleToken: hasher('console-session'),
    hashWelcomeToken: hasher('welcome-link'),
    /** Of a console session's token: its CSRF token. */
    csrfTokenOf: hasher('console-csrf'),
    /** Of the state of a sign-in by OpenID Connect: its PKCE verifier, and its nonce. */
    openIdVerifierOf: hasher('openid-verifier'),
    openIdNonceOf: hasher('openid-nonce'),
    /** Of a request and its body, to recognize its retries. */
    hashRequest: hasher('request'),
    /** Of a connect link's token: authenticates the form on its page. */
    signForm: hasher('connect-form'),
    /** Of an address as it is compared. */
    hashEmail: (email: string): string => emailHash(comparedEmail(email)),
    /** Of the same address as earlier releases compared it, if they spelled it otherwise. */
    earlierEmailHashes: (email: string): string[] =>
      earlierSpellings(email).map((spelling) => emailHash(spelling)),
    /** Of an identity provider and its subject. */
    hashIdentity: (provider: string, subject: string): string =>
      identityHash(JSON.stringify([provider, subject])),
    /** Of an identity provider's subject. */
    hashSubject: hasher('subject'),
    /** Of an organization: the seed of its key for signing checkpoints. */
    logKeySeed: (organizationId: string): Buffer => bytesOf(`log-key/${organizationId}`),
  }
}

export type Secrets = ReturnType<typeof secretsOf>
