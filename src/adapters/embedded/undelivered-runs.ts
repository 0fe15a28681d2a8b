import {
  claimableMs,
  type Holder,
  mostIdentical,
  type UndeliveredRun,
  type UndeliveredRuns,
} from '../../ports/undelivered-runs.ts'
import type { EventLog } from './log.ts'

/** Beyond this number the oldest count as delivered. */
const maxRuns = 50_000

type Entry = UndeliveredRun & {
  holder: Holder | null
  /** Its process died: only a run that was under way is claimed. */
  isInherited?: true
}

/** Written by hand, as JSON would cost each turn more: no part has a line break. */
const textOf = (run: UndeliveredRun, { node }: Holder): string =>
  [run.fingerprint, run.sessionId, run.messageId, run.at, node].join('\n')

const inherited = (runId: string, text: string): Entry => {
  const [fingerprint = '', sessionId = '', messageId = '', at, node = ''] = text.split('\n')
  const holder = { node, request: 0 }
  const run = { runId, sessionId, messageId, fingerprint, at: Number(at), early: false }
  return { ...run, holder, isInherited: true }
}

const isHeldBy = ({ holder }: Entry, { node, request }: Holder): boolean =>
  holder?.node === node && holder.request === request

/**
 * Undelivered runs in memory. Only runs answered at their end are also on disk, since no others can
 * be claimed after the process died. A later write removes a run from disk.
 */
export const embeddedUndeliveredRuns = (log: EventLog): UndeliveredRuns => {
  const runs = new Map<string, Entry>()
  const byFingerprint = new Map<string, Entry[]>()
  /** Runs to remove from disk. */
  const removed = new Set<string>()

  const insert = (entry: Entry): void => {
    runs.set(entry.runId, entry)
    const identical = byFingerprint.get(entry.fingerprint)
    if (identical) identical.push(entry)
    else byFingerprint.set(entry.fingerprint, [entry])
  }

  const drop = (entry: Entry): void => {
    const { runId, fingerprint, early } = entry
    runs.delete(runId)
    const rest = (byFingerprint.get(fingerprint) ?? []).filter((other) => other !== entry)
    if (rest.length > 0) byFingerprint.set(fingerprint, rest)
    else byFingerprint.delete(fingerprint)
    if (!early) removed.add(runId)
  }

  const isOver = ({ at }: UndeliveredRun, now: Date): boolean => now.getTime() - at >= claimableMs

  /** Removes the due runs from disk and stores a run. */
  const write = (runId = '', text = ''): Promise<void> =>
    log.write({
      bytes: text.length,
      prepare: () => {
        const due = [...removed]
        return () => {
          for (const dueId of due) {
            void log.undelivered.remove(dueId)
            removed.delete(dueId)
          }
          if (text !== '') void log.undelivered.put(runId, text)
        }
      },
    })

  log.look(() => {
    // A damaged entry counts as delivered.
    for (const { key, value } of log.undelivered.getRange({}))
      if (value !== undefined) insert(inherited(key, value))
  })

  return {
    async add(run, holder) {
      const [oldest] = runs.size >= maxRuns ? runs.values() : []
      if (oldest) drop(oldest)
      insert({ ...run, holder })
      if (!run.early) await write(run.runId, textOf(run, holder))
    },

    async claim(fingerprint, holder, now) {
      const identical = byFingerprint.get(fingerprint)
      if (!identical) return { heldByOthers: [] }
      const claimable = identical.filter((entry) => !isOver(entry, now)).slice(0, mostIdentical)
      const free = claimable.find((entry) => entry.holder === null)
      if (!free)
        return {
          heldByOthers: claimable.flatMap((entry) =>
            entry.holder ? { runId: entry.runId, node: entry.holder.node } : [],
          ),
        }
      free.holder = holder
      const { runId, sessionId, messageId, at, early } = free
      return { run: { runId, sessionId, messageId, fingerprint, at, early } }
    },

    async release(runId, holder) {
      const entry = runs.get(runId)
      if (entry && isHeldBy(entry, holder)) entry.holder = null
    },

    async remove(runId, holder) {
      const entry = runs.get(runId)
      if (entry && isHeldBy(entry, holder)) drop(entry)
    },

    async abandon(runId, node) {
      const entry = runs.get(runId)
      if (!entry || !(entry.isInherited || entry.holder?.node === node)) return
      delete entry.isInherited
      if (entry.early) drop(entry)
      else entry.holder = null
    },

    async sweep(now) {
      const over = [...runs.values()].filter((entry) => isOver(entry, now))
      for (const entry of over) drop(entry)
      if (removed.size > 0) await write()
      return over.length
    },
  }
}
