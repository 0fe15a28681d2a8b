import { areEqual, toBase64 } from './bytes.ts'
import type { Checkpoint } from './checkpoint.ts'
import { VerificationFailed } from './failure.ts'
import { findEvent } from './find-event.ts'
import type { LogClient } from './log-client.ts'
import { isIncluded, treeHashes } from './merkle.ts'
import type { VerifiedEvent } from './result.ts'
import { compareEvent, type ListedEvent, leafOf, parseLine } from './stored-event.ts'
import { tiledTree } from './tiles.ts'
import type { Subtle } from './web-crypto.ts'

type Inclusion = {
  checkpoint: Checkpoint
  listed: ListedEvent
  /** The index that the event probably has. */
  likely: number | undefined
}

/**
 * Verifies that a checkpoint's tree includes an event, and that the event is shown as it is stored.
 * The hashes are verified first, so that a failure names what was altered.
 * @throws VerificationFailed, VerificationUnavailable
 */
export const verifyInclusion = async (
  { subtle, client }: { subtle: Subtle; client: LogClient },
  { checkpoint: { size, root }, listed, likely }: Inclusion,
): Promise<VerifiedEvent> => {
  const { position } = listed
  const read = async (index: number) => parseLine(await client.line(index))
  const match = await findEvent({ size, position, likely, read })
  if (!match) throw new VerificationFailed({ reason: 'event_missing', position })
  const { index, event } = match
  const hashes = treeHashes(subtle)
  const tree = tiledTree({ size, hashes, read: client.tile })
  const [signed, proof] = await Promise.all([tree.leafHash(index), tree.inclusionProof(index)])
  if (!(await isIncluded(hashes, { leaf: signed, index, size, proof, root })))
    throw new VerificationFailed({ reason: 'tiles_altered', index })
  const leaf = await hashes.leaf(await leafOf(subtle, event))
  if (!areEqual(leaf, signed)) throw new VerificationFailed({ reason: 'event_altered', index })
  const { difference, encrypted } = compareEvent(listed, event)
  if (difference !== undefined)
    throw new VerificationFailed({ reason: 'event_listed_differently', index, field: difference })
  return { index, leafHash: toBase64(leaf), encrypted }
}
