import { setImmediate } from 'node:timers/promises'
import {
  type Answers,
  answerLifetimeMs,
  type Claim,
  type StoredAnswer,
} from '../../ports/answers.ts'
import { StoreDamaged } from '../../ports/event-store.ts'
import { assertName, type EventLog } from './log.ts'

const sweepBatch = 200

type Entry = { fingerprint: string; holder: string; at: number; answer?: StoredAnswer }

/**
 * First answers, in the environment of the log. Only this process has the store open, so the holder
 * of any other claim is dead.
 */
export const embeddedAnswers = (log: EventLog): Answers => {
  const parsed = (scope: string, text: string | undefined): Entry => {
    if (text === undefined) throw new StoreDamaged(`${log.file}: damaged answer ${scope}`)
    return JSON.parse(text)
  }

  const entryOf = (scope: string): Entry | undefined =>
    log.answers.doesExist(scope) ? parsed(scope, log.answers.get(scope)) : undefined

  const put = (scope: string, entry: Entry) => {
    void log.answers.put(scope, JSON.stringify(entry))
  }

  const isOver = ({ at }: Entry, now: Date) => now.getTime() - at >= answerLifetimeMs

  const change = <T>(scope: string, prepare: () => () => T, bytes = 0): Promise<T> => {
    assertName(scope)
    return log.write({ bytes: bytes + scope.length, about: scope, prepare })
  }

  /** Removes the old answers of a page; returns how many, and where the next page starts. */
  const sweepFrom = (start: string | undefined, now: Date) => {
    const range = { ...(start !== undefined && { start }), limit: sweepBatch + 1 }
    const scopes = log.look(() => [...log.answers.getKeys(range)])
    const removed = log.write({
      bytes: 0,
      alone: true,
      prepare: () => {
        const old = scopes.slice(0, sweepBatch).filter((scope) => {
          // A damaged answer stays: its request must not run again.
          const text = log.answers.get(scope)
          return text !== undefined && isOver(JSON.parse(text), now)
        })
        return () => {
          for (const scope of old) void log.answers.remove(scope)
          return old.length
        }
      },
    })
    return { removed, next: scopes[sweepBatch] }
  }

  return {
    claim: async (scope, fingerprint, holder, now) =>
      change(scope, () => {
        const entry = entryOf(scope)
        const asIs = (claim: Claim) => () => claim
        const isKept = entry !== undefined && !isOver(entry, now)
        if (isKept) {
          if (entry.fingerprint !== fingerprint) return asIs({ state: 'reused' })
          if (entry.answer) return asIs({ state: 'answered', answer: entry.answer })
          if (entry.holder === holder) return asIs({ state: 'running' })
        }
        return (): Claim => {
          put(scope, { fingerprint, holder, at: now.getTime() })
          return isKept ? { state: 'claimed', takenOver: true } : { state: 'claimed' }
        }
      }),

    complete: async (scope, holder, answer, now) =>
      change(
        scope,
        () => {
          const entry = entryOf(scope)
          const ours = entry?.holder === holder ? entry : undefined
          return () => ours && put(scope, { ...ours, at: now.getTime(), answer })
        },
        answer.body.length,
      ),

    release: async (scope, holder) =>
      change(scope, () => {
        const isOurs = entryOf(scope)?.holder === holder
        return () => {
          if (isOurs) void log.answers.remove(scope)
        }
      }),

    async sweep(now) {
      let total = 0
      for (let start: string | undefined; ; await setImmediate()) {
        const { removed, next } = sweepFrom(start, now)
        total += await removed
        if (next === undefined) return total
        start = next
      }
    },
  }
}
