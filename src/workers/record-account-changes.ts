import type { RecordAccountChangeCommand } from '../../commands/record-account-change.ts'
import {
  type AccountChangeView,
  isUntold,
  type MembershipsView,
} from '../../projections/account-changes.ts'
import { latest, type Position } from '../domain/event.ts'
import { systemCall } from '../ports/call.ts'
import type { Clock } from '../ports/clock.ts'
import { START, StoreUnavailable } from '../ports/event-store.ts'
import type { Log } from '../ports/log.ts'
import type { View, WaitForPosition } from '../ports/views.ts'

/** Changes read together, and the number of such reads in one run. */
const page = 100
const pages = 10
/** Memberships recorded concurrently. */
const concurrency = 10

type Uses = {
  accountChanges: View<AccountChangeView | MembershipsView>
  recordAccountChange: RecordAccountChangeCommand
  waitForPosition: WaitForPosition
  clock: Clock
  log: Log
}

type Progress = { upTo: Position; left: number }

/**
 * Records changes of accounts by the platform (credits, plan, identity) in the histories of the
 * organizations of which the user was then an active member. Changes of one membership are
 * recorded in the order of the log: a failure delays the later changes of that membership only.
 * Resolves at the end of a run; another run or process continues. @throws StoreUnavailable
 */
export const recordAccountChanges = (uses: Uses) => {
  const { accountChanges, recordAccountChange, waitForPosition, clock, log } = uses

  const recordChange = async (view: AccountChangeView): Promise<Position> => {
    const { organization_id, user_id: userId, event_id: eventId, position, at, change } = view
    // The actor and the request stay in the platform's history; the event id refers to them.
    const call = {
      ...systemCall(eventId, clock.now(), organization_id),
      scope: `account change ${eventId}`,
    }
    const result = await recordAccountChange({ userId, eventId, position, at, change }, call)
    return result.position
  }

  /**
   * Returns the position of the last recorded change (START: none), and the number of changes left
   * after a failure. @throws StoreUnavailable
   */
  const recordInOrder = async (changes: readonly AccountChangeView[]): Promise<Progress> => {
    let upTo: Position = START
    for (const [n, change] of changes.entries())
      try {
        upTo = latest(upTo, await recordChange(change))
      } catch (err) {
        if (err instanceof StoreUnavailable) throw err
        const { organization_id, event_id } = change
        log.error({ err, organization_id, event_id }, 'an account change could not be told')
        return { upTo, left: changes.length - n }
      }
    return { upTo, left: 0 }
  }

  /** `stuck`: memberships with a change that could not be recorded in this run. */
  const recordAll = async (changes: readonly AccountChangeView[], stuck: Set<string>) => {
    const memberships = new Map<string, AccountChangeView[]>()
    let left = 0
    for (const change of changes) {
      const membership = `${change.organization_id}/${change.user_id}`
      const others = memberships.get(membership)
      if (stuck.has(membership)) left++
      else if (others) others.push(change)
      else memberships.set(membership, [change])
    }
    const waiting = [...memberships]
    let upTo: Position = START
    for (let n = 0; n < waiting.length; n += concurrency) {
      const recordings = waiting.slice(n, n + concurrency).map(async ([membership, own]) => {
        const progress = await recordInOrder(own)
        if (progress.left > 0) stuck.add(membership)
        left += progress.left
        upTo = latest(upTo, progress.upTo)
      })
      await Promise.all(recordings)
    }
    return { upTo, left }
  }

  return async (): Promise<void> => {
    const stuck = new Set<string>()
    const find = { index: 'untold', equals: [true], limit: page }
    for (let n = 0, skip = 0; n < pages; n++) {
      const { items } = await accountChanges.find({ ...find, skip })
      const { upTo, left } = await recordAll(items.filter(isUntold), stuck)
      if (items.length < page) return
      // Recorded changes leave the view; failed ones stay in it, before the rest.
      skip += left
      if (upTo !== START) await waitForPosition(upTo)
    }
  }
}
