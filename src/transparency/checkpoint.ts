import { hashSize } from './merkle.ts'
import { NoteInvalid, openedNote } from './note.ts'

/** How many events an organization has had, and the root of the tree over them. */
export type Checkpoint = { origin: string; size: number; root: Buffer }

/** The name of an organization's log, and of the key that signs for it. */
export const originOf = (organizationId: string): string => `reprise/${organizationId}`

/** The text that is signed (C2SP tlog-checkpoint). */
export const checkpointText = ({ origin, size, root }: Checkpoint): string =>
  `${origin}\n${size}\n${root.toString('base64')}\n`

/** The checkpoint in a note that is signed by this verifier key. @throws NoteInvalid */
export const openedCheckpoint = (note: string, vkey: string): Checkpoint => {
  const [origin = '', count = '', hash = ''] = openedNote(note, vkey).split('\n')
  const size = Number(count)
  const root = Buffer.from(hash, 'base64')
  if (!/^(0|[1-9]\d*)$/.test(count) || !Number.isSafeInteger(size) || root.length !== hashSize)
    throw new NoteInvalid('the note is no checkpoint')
  return { origin, size, root }
}
