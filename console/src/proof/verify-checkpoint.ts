import { textOf, toBase64 } from './bytes.ts'
import { type Checkpoint, openCheckpoint } from './checkpoint.ts'
import { VerificationFailed } from './failure.ts'
import type { LogClient } from './log-client.ts'
import type { CheckpointMemory, Recalled, Remembered } from './memory.ts'
import { isConsistent, treeHashes } from './merkle.ts'
import { parseVerifierKey, type VerifierKey } from './note.ts'
import type { EarlierVisit, KeySource, VerifiedLog } from './result.ts'
import type { Subtle } from './web-crypto.ts'

type Uses = {
  subtle: Subtle
  client: LogClient
  memory: CheckpointMemory
  origin: string
  /** The key that the caller trusts. */
  givenKey: string | undefined
  now(): Date
}

type TrustedKey = { key: VerifierKey; keySource: KeySource }

/** The given key, else the remembered one, else the served one. @throws VerificationFailed */
const trustedKey = async (
  { subtle, client, origin, givenKey }: Uses,
  recalled: Recalled,
): Promise<TrustedKey> => {
  const remembered = recalled.kind === 'remembered' ? recalled.remembered.key : undefined
  if (remembered && givenKey === undefined) return { key: remembered, keySource: 'remembered' }
  const key = await parseVerifierKey(subtle, givenKey?.trim() ?? (await client.key()))
  if (key.name !== origin)
    throw new VerificationFailed({ reason: 'wrong_origin', expected: origin, actual: key.name })
  if (remembered && remembered.text !== key.text)
    throw new VerificationFailed({
      reason: 'key_changed',
      remembered: remembered.text,
      given: key.text,
    })
  return { key, keySource: givenKey === undefined ? 'served' : 'given' }
}

/** A checkpoint, and the note that it was in. */
type Served = { note: string; checkpoint: Checkpoint }

/** @throws VerificationFailed when the earlier history is not the beginning of the present one */
const requireExtension = async (
  { subtle, client }: Uses,
  { note, checkpoint: { size, root } }: Served,
  { note: rememberedNote, checkpoint, at }: Remembered,
): Promise<void> => {
  const { size: from, root: before } = checkpoint
  const failed = (reason: 'history_shorter' | 'history_rewritten') => {
    const evidence = { remembered: rememberedNote, served: note }
    return new VerificationFailed({ reason, size, earlier: { size: from, at }, evidence })
  }
  if (size < from) throw failed('history_shorter')
  const proof = from === 0 || from === size ? [] : await client.consistency(from, size)
  const consistency = { from, to: size, before, after: root, proof }
  if (!(await isConsistent(treeHashes(subtle), consistency))) throw failed('history_rewritten')
}

/** More checkpoints than this are not stored by other tabs during one verification. */
const maxComparisons = 4

/**
 * Compares a checkpoint with the remembered one, then remembers it. If another tab stores one in
 * the meantime, that is compared too before it is replaced.
 */
const compareAndRemember = async (
  uses: Uses,
  {
    served,
    key,
    text,
    recalled,
  }: {
    served: Served
    key: VerifierKey
    text: string | null | undefined
    recalled: Recalled
  },
): Promise<{ earlier: EarlierVisit; isRemembered: boolean }> => {
  const { subtle, memory, now } = uses
  let [last, present] = [recalled, text]
  let isRemembered = false
  for (let n = 0; n < maxComparisons; n++) {
    if (last.kind === 'remembered') await requireExtension(uses, served, last.remembered)
    const stored = memory.text()
    if (stored === present) {
      const at = now().toISOString()
      isRemembered = memory.store({ key: key.text, note: served.note, at })
      break
    }
    present = stored
    last = await memory.parse(subtle, stored)
  }
  if (last.kind === 'none') return { earlier: last, isRemembered }
  const { at, checkpoint } = last.remembered
  return { earlier: { kind: 'compared', size: checkpoint.size, at }, isRemembered }
}

/**
 * Verifies the signature and format of a log's checkpoint, and that the remembered history is the
 * beginning of the present one. @throws VerificationFailed, VerificationUnavailable
 */
export const verifyCheckpoint = async (
  uses: Uses,
): Promise<{ checkpoint: Checkpoint; log: VerifiedLog }> => {
  const { subtle, client, memory, origin } = uses
  const text = memory.text()
  const recalled = await memory.parse(subtle, text)
  const { key, keySource } = await trustedKey(uses, recalled)
  const bytes = await client.checkpoint()
  const checkpoint = await openCheckpoint(subtle, bytes, { key, origin })
  const served = { note: textOf(bytes) ?? '', checkpoint }
  const comparison = await compareAndRemember(uses, { served, key, text, recalled })
  const { size } = checkpoint
  const root = toBase64(checkpoint.root)
  return { checkpoint, log: { origin, size, root, key: key.text, keySource, ...comparison } }
}
