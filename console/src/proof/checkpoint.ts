import { areEqual, type Bytes, fromBase64 } from './bytes.ts'
import { malformed, VerificationFailed } from './failure.ts'
import { hashSize, treeHashes } from './merkle.ts'
import { openNote, type VerifierKey } from './note.ts'
import type { Subtle } from './web-crypto.ts'

/** The number of events in a log, and the root of the tree over them. */
export type Checkpoint = { origin: string; size: number; root: Bytes }

const decimal = /^(?:0|[1-9]\d*)$/

/** The text of a checkpoint (C2SP tlog-checkpoint). @throws VerificationFailed */
export const parseCheckpoint = (text: string): Checkpoint => {
  const [origin = '', count = '', base64 = '', ...more] = text.split('\n')
  if (more.at(-1) !== '' || origin === '' || more.slice(0, -1).includes(''))
    throw malformed('checkpoint', 'it is not three or more lines')
  const size = Number(count)
  if (!decimal.test(count) || !Number.isSafeInteger(size))
    throw malformed('checkpoint', 'its second line is not a number of events')
  const root = fromBase64(base64)
  if (root?.length !== hashSize) throw malformed('checkpoint', 'its third line is not a hash')
  return { origin, size, root }
}

/** A log's checkpoint from a note that is signed with its key. @throws VerificationFailed */
export const openCheckpoint = async (
  subtle: Subtle,
  note: Bytes,
  { key, origin }: { key: VerifierKey; origin: string },
): Promise<Checkpoint> => {
  const checkpoint = parseCheckpoint(await openNote(subtle, note, key))
  if (checkpoint.origin !== origin)
    throw new VerificationFailed({
      reason: 'wrong_origin',
      expected: origin,
      actual: checkpoint.origin,
    })
  if (checkpoint.size === 0 && !areEqual(checkpoint.root, await treeHashes(subtle).empty()))
    throw malformed('checkpoint', 'its hash is not that of an empty history')
  return checkpoint
}
