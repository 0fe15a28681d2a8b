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

/** How many changes are looked up together, and how often in one run. */
const page = 100
const pages = 10
/** How many memberships are told at once. */
const atOnce = 10

type Uses = {
  accountChanges: View<AccountChangeView | MembershipsView>
  recordAccountChange: RecordAccountChangeCommand
  waitForPosition: WaitForPosition
  clock: Clock
  log: Log
}

type Told = { upTo: Position; left: number }

/**
 * What the platform does to a user (credits, plan, identity) is told in the history of every
 * organization of which the user was an active member then. What is still to be told is read off a
 * view, so that a run goes on where the last one, or another process, has ended. Changes of one
 * membership are told in the order of the log: one that cannot be told keeps the later ones of that
 * membership waiting, and no others. The work answers when a run is done. @throws StoreUnavailable
 */
export const recordAccountChanges = (uses: Uses) => {
  const { accountChanges, recordAccountChange, waitForPosition, clock, log } = uses

  const tell = async (view: AccountChangeView): Promise<Position> => {
    const { organization_id, user_id: userId, event_id: eventId, position, at, change } = view
    // Who asked the platform, and under which request, is the platform's: the event stands for it.
    const call = {
      ...systemCall(eventId, clock.now(), organization_id),
      scope: `account change ${eventId}`,
    }
    const told = await recordAccountChange({ userId, eventId, position, at, change }, call)
    return told.position
  }

  /**
   * Answers up to where the log tells of them (START: of none), and how many could not be told: where
   * one cannot, none after it is. @throws StoreUnavailable
   */
  const tellInOrder = async (changes: readonly AccountChangeView[]): Promise<Told> => {
    let upTo: Position = START
    for (const [n, change] of changes.entries())
      try {
        upTo = latest(upTo, await tell(change))
      } catch (err) {
        if (err instanceof StoreUnavailable) throw err
        const { organization_id, event_id } = change
        log.error({ err, organization_id, event_id }, 'an account change could not be told')
        return { upTo, left: changes.length - n }
      }
    return { upTo, left: 0 }
  }

  /** `stuck` are the memberships of which one change could not be told in this run. */
  const tellAll = async (changes: readonly AccountChangeView[], stuck: Set<string>) => {
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
    for (let n = 0; n < waiting.length; n += atOnce) {
      const telling = waiting.slice(n, n + atOnce).map(async ([membership, own]) => {
        const told = await tellInOrder(own)
        if (told.left > 0) stuck.add(membership)
        left += told.left
        upTo = latest(upTo, told.upTo)
      })
      await Promise.all(telling)
    }
    return { upTo, left }
  }

  return async (): Promise<void> => {
    const stuck = new Set<string>()
    const find = { index: 'untold', equals: [true], limit: page }
    for (let n = 0, skip = 0; n < pages; n++) {
      const { items } = await accountChanges.find({ ...find, skip })
      const { upTo, left } = await tellAll(items.filter(isUntold), stuck)
      if (items.length < page) return
      // What was told leaves the view; what could not be stays there, before the rest.
      skip += left
      if (upTo !== START) await waitForPosition(upTo)
    }
  }
}
