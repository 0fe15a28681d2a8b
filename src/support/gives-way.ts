import type { ChildProcess } from 'node:child_process'
import { getPriority, setPriority } from 'node:os'

const less = 5
const least = 19

/**
 * To be called right after a process was started, whose threads then have its priority: where processors are few, the
 * serving process comes first.
 */
export const givesWay = ({ pid }: Pick<ChildProcess, 'pid'>): void => {
  try {
    if (pid !== undefined) setPriority(pid, Math.min(getPriority() + less, least))
  } catch {}
}
