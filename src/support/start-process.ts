import { type ChildProcess, type ForkOptions, fork } from 'node:child_process'
import { getPriority, setPriority } from 'node:os'

const less = 5
const least = 19

/**
 * Its threads then have its priority too: where processors are few, the serving process comes
 * first.
 */
const givesWay = (pid: number): void => {
  try {
    setPriority(pid, Math.min(getPriority() + less, least))
  } catch {}
}

/**
 * Starts a process with lower priority than this one. Returns undefined if the system lacks file
 * handles or memory for it, and calls `failed` in a later turn. A started process emits its own
 * errors.
 */
export const startProcess = (
  script: URL,
  { args = [], ...options }: ForkOptions & { args?: readonly string[] },
  failed: (error: Error) => void,
): ChildProcess | undefined => {
  try {
    const child = fork(script, args, options)
    if (child.pid !== undefined) {
      givesWay(child.pid)
      return child
    }
    child.once('error', failed)
  } catch (error) {
    setImmediate(failed, error as Error)
  }
  return undefined
}
