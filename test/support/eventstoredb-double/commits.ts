import { EventEmitter } from 'node:events'
import type { EventLog } from './log.ts'

/** When what is written is committed: a turn of the event loop later, unless it is held back. */
export const commits = (log: EventLog) => {
  const committed = new EventEmitter().setMaxListeners(0)
  let held = false
  let due = false
  let waiting: (() => void)[] = []

  const commit = () => {
    due = false
    if (held) return
    log.commit()
    for (const answer of waiting.splice(0)) answer()
    committed.emit('committed')
  }

  return {
    /** Emits `committed` whenever readers can see more. */
    committed,
    /** Calls back when all that is written by now is committed. */
    after: (answer: () => void): void => {
      waiting.push(answer)
      if (!due) setImmediate(commit)
      due = true
    },
    /** From now on nothing is committed, until it is released, or lost as with a dead leader. */
    hold: () => {
      held = true
      return {
        release: () => {
          held = false
          commit()
        },
        lose: () => {
          held = false
          log.lose()
          waiting = []
        },
      }
    },
  }
}

export type Commits = ReturnType<typeof commits>
