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
 * Starts a process that gives way to this one. Undefined where the system has no file handles or
 * memory for it: `failed` is then called in a later turn. A process that is there tells its own
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
