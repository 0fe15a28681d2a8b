import { StoreDamaged, StoreUnavailable } from '../../ports/event-store.ts'

const corrupted = -30_796

/**
 * lmdb's codes for a file that is not as it was written: page not found, wrong page type, panic,
 * other version, no data file, cursor too deep, other kind of database, and a transaction that one
 * of these has ended.
 */
const damage = new Set([-30_797, corrupted, -30_795, -30_794, -30_793, -30_787, -30_784, -30_782])

/** Bytes that are no key. */
export class UnreadableKey extends Error {
  override readonly name = 'UnreadableKey'
  readonly code = corrupted
}

/** lmdb's words for a key whose length cannot be; this error has no code. */
const impossibleKey = 'Invalid key size'

const codeOf = (cause: Error): unknown => {
  if (cause.message.startsWith(impossibleKey)) return corrupted
  return 'code' in cause ? cause.code : undefined
}

/** An error of lmdb as StoreDamaged or StoreUnavailable; any other as it is. */
export const explained = (cause: unknown, file: string): unknown => {
  const code = cause instanceof Error ? codeOf(cause) : undefined
  if (!(cause instanceof Error) || typeof code !== 'number') return cause
  const message = `${file}: ${cause.message}`
  return damage.has(code)
    ? new StoreDamaged(message, { cause })
    : new StoreUnavailable(message, { cause })
}

/** Runs a read. @throws StoreDamaged, StoreUnavailable where lmdb says so */
export const explaining = <T>(reading: () => T, file: string): T => {
  try {
    return reading()
  } catch (error) {
    throw explained(error, file)
  }
}
