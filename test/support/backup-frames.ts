import { open } from 'node:fs/promises'
import { backupReader, backupWriter, type Frame } from '../../src/app/backup/backup-file.ts'
import { unlimited } from '../../src/ports/room.ts'

/** All frames of a backup. */
export const framesIn = async (path: string): Promise<Frame[]> => {
  const file = await open(path)
  try {
    const from = await backupReader(file, path)
    const frames: Frame[] = []
    while (frames.at(-1)?.kind !== 'end') frames.push(await from.next())
    return frames
  } finally {
    await file.close()
  }
}

/** A backup of these frames, with right checksums. */
export const writeFrames = async (path: string, frames: readonly Frame[]): Promise<void> => {
  const file = await open(path, 'w')
  const to = backupWriter(file, unlimited)
  for (const { bytes, ...head } of frames) to.add(head, bytes)
  await to.flush()
  await file.close()
}
