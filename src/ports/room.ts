import { StoreUnavailable } from './event-store.ts'

/**
 * Called before this many bytes are written to a disk.
 * @throws StoreUnavailable while too little space is free there
 */
export type Room = (bytes: number) => void

/** Room without a limit. */
export const unlimited: Room = () => undefined

const refusals = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EMFILE', 'ENFILE'])

/** The error of a file operation: StoreUnavailable where the system refuses it for now. */
const explained = (error: unknown, what: string): unknown =>
  refusals.has((error as NodeJS.ErrnoException).code ?? '')
    ? new StoreUnavailable(what, { cause: error })
    : error

/** @throws StoreUnavailable, called `what`, when the disk or the lack of file handles refuses it */
export const onDisk = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    throw explained(error, what)
  }
}
