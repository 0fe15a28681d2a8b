import { randomBytes } from 'node:crypto'
import { setTimeout as after, setImmediate as turn } from 'node:timers/promises'
import { refusal } from '../domain/refusal.ts'
import type { KeyRecords, WrappedKey } from '../ports/keys.ts'
import type { Log } from '../ports/log.ts'
import { decrypted, encrypted, keyBytes } from './cipher.ts'
import { freshMs, type MasterKeys } from './master-keys.ts'
import { type Ring, WrongMasterKey } from './wrapped-keys.ts'

/** How many data keys are stored together. */
const pieceKeys = 250
/** How many are looked at before others have their turn: less than 2 ms. */
const sliceKeys = 50

/**
 * How a rotation stands: `none` is under way; this process is `rewrapping`; all data keys are
 * `rewrapped`, and the server has to be started with the new key; `interrupted`: it goes on when it
 * is asked for again, or goes on in another process.
 */
export type RotationState = 'none' | 'rewrapping' | 'rewrapped' | 'interrupted'

export type RotationStatus = {
  state: RotationState
  /** Data keys that this process has rewrapped. */
  rewrapped: number
  /** What ended the last attempt. */
  error?: string
}

type Rewrapped = Parameters<KeyRecords['rewrap']>[0][number]

type Uses = {
  master: MasterKeys
  keys: Pick<KeyRecords, 'list' | 'rewrap'>
  /** The master key that the next start is given, as far as this process knows. */
  configured: Uint8Array
  /** Makes the next start use another key; absent where only the operator can. */
  configure?: ((next: Uint8Array) => Promise<void>) | undefined
  /** How long other processes may still wrap new keys under the old master key. */
  settleMs?: number
  log: Log
}

/** How long it takes until every process that shares the keys has seen that a rotation began. */
export const sharedSettleMs = 2 * freshMs

const same = (left: Uint8Array, right: Uint8Array): boolean => Buffer.compare(left, right) === 0

/**
 * Replaces the master key while serving: every data key is wrapped anew, piece by piece, and both
 * master keys open them meanwhile (docs/decisions/0019-rotating-the-master-key.md).
 */
export const masterKeyRotation = (uses: Uses) => {
  const { master, keys, configure, settleMs = 0, log } = uses
  const stopping = new AbortController()
  let { configured } = uses
  let running: Promise<void> | undefined
  let count = 0
  let complete = false
  let error: string | undefined

  /** Keys in their new form, those that do not have it yet. */
  const rewrapping = ({ wrap, other }: Ring) => {
    // Neighbours are mostly alike, and a failed attempt costs most.
    let lastWasNew = false
    return ({ name, wrapped }: WrappedKey): Rewrapped[] => {
      if (!wrapped) return []
      const isNew = () => decrypted(wrap, name, wrapped) !== undefined
      if (lastWasNew && isNew()) return []
      const key = other && decrypted(other, name, wrapped)
      lastWasNew = !key
      if (key) return [{ name, from: wrapped, to: encrypted(wrap, name, key) }]
      if (isNew()) return []
      throw new WrongMasterKey(name)
    }
  }

  /** One look at every key; answers how many were wrapped anew. */
  const pass = async (): Promise<number> => {
    const rewrapped = rewrapping(master.rings.now())
    let changed = 0
    let after: string | undefined
    for (;;) {
      const piece = await keys.list(after, pieceKeys)
      after = piece.at(-1)?.name
      if (after === undefined) return changed
      const changes: Rewrapped[] = []
      for (let n = 0; n < piece.length; n += sliceKeys) {
        stopping.signal.throwIfAborted()
        changes.push(...piece.slice(n, n + sliceKeys).flatMap(rewrapped))
        await turn()
      }
      if (changes.length > 0) await keys.rewrap(changes)
      changed += changes.length
      count += changes.length
    }
  }

  const finish = async (): Promise<void> => {
    const next = master.accepted().master
    if (!same(configured, next)) {
      if (!configure) return
      await configure(next)
      configured = next
    }
    if (await master.finish()) log.info({ rewrapped: count }, 'the master key was replaced')
  }

  const run = async (): Promise<void> => {
    try {
      await after(settleMs, undefined, { signal: stopping.signal })
      while ((await pass()) > 0);
      complete = true
      await finish()
    } catch (err) {
      if (stopping.signal.aborted) return
      error = err instanceof Error ? err.message : String(err)
      log.error({ err }, 'the rotation of the master key was interrupted')
    }
  }

  const status = (): RotationStatus => {
    const progress = { rewrapped: count, ...(error === undefined ? {} : { error }) }
    if (running) return { state: 'rewrapping', ...progress }
    if (!master.accepted().previous) return { state: 'none', ...progress }
    return { state: complete && error === undefined ? 'rewrapped' : 'interrupted', ...progress }
  }

  /** Begins the requested rotation unless it is under way; false when there is nothing to do. */
  const ensureRotation = async (requestedKey: Uint8Array | undefined): Promise<boolean> => {
    await master.refresh()
    const { master: current, previous } = master.accepted()
    if (previous) {
      if (requestedKey && !same(requestedKey, current)) throw refusal('rotation_under_way')
      return true
    }
    if (requestedKey && same(requestedKey, current)) return false
    if (!requestedKey && !configure) throw refusal('new_master_key_required')
    if (await master.begin(requestedKey ?? randomBytes(keyBytes))) return true
    return ensureRotation(requestedKey)
  }

  return {
    /** Looks again where another process may have finished it. */
    async status(): Promise<RotationStatus> {
      await master.refresh()
      return status()
    },

    /**
     * Begins a rotation to this key (32 bytes; absent: to a new one), or resumes the one under way.
     * It runs in the background.
     * @throws rotation_under_way, new_master_key_required
     */
    async rotate(requestedKey?: Uint8Array): Promise<RotationStatus> {
      if ((await ensureRotation(requestedKey)) && !running) {
        error = undefined
        complete = false
        count = 0
        running = run().finally(() => {
          running = undefined
        })
      }
      return status()
    },

    /** Stops between two pieces; the next request resumes the rotation. */
    async close(): Promise<void> {
      stopping.abort()
      await running
    },
  }
}
export type MasterKeyRotation = ReturnType<typeof masterKeyRotation>
