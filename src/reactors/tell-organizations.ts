import type { RecordAccountChangeCommand } from '../../commands/record-account-change.ts'
import {
  type AccountChangeView,
  isUntold,
  type MembershipsView,
} from '../../projections/account-changes.ts'
import { systemCall } from '../ports/call.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import type { View } from '../ports/views.ts'

/** How many changes are told in one run, and how many at once. */
const most = 1_000
const atOnce = 10

type Uses = {
  accountChanges: View<AccountChangeView | MembershipsView>
  recordAccountChange: RecordAccountChangeCommand
  clock: Clock
  log: Log
}

/**
 * What the platform does to a user (credits, plan, identity) is told in the history of every
 * organization of which the user was an active member then. What is still to be told is read off a
 * view, so that a run goes on where the last one, or another process, has ended. Changes of one
 * membership are told in the order of the log: one that cannot be told now keeps the later ones
 * waiting.
 */
export const tellOrganizations = ({ accountChanges, recordAccountChange, clock, log }: Uses) => {
  const tell = async (view: AccountChangeView): Promise<void> => {
    const { organization_id, user_id: userId, event_id: eventId, position, at, change } = view
    // Who asked the platform, and under which request, is the platform's: the event stands for it.
    const call = {
      ...systemCall(eventId, clock.now(), organization_id),
      scope: `account change ${eventId}`,
    }
    await recordAccountChange({ userId, eventId, position, at, change }, call)
  }

  const tellInOrder = async (changes: readonly AccountChangeView[]): Promise<void> => {
    for (const change of changes)
      try {
        await tell(change)
      } catch (err) {
        const { organization_id, event_id } = change
        log.error({ err, organization_id, event_id }, 'an account change could not be told')
        return
      }
  }

  return async (): Promise<void> => {
    const { items } = await accountChanges.find({ index: 'untold', equals: [true], limit: most })
    const memberships = new Map<string, AccountChangeView[]>()
    for (const change of items.filter(isUntold)) {
      const membership = `${change.organization_id}/${change.user_id}`
      const others = memberships.get(membership)
      if (others) others.push(change)
      else memberships.set(membership, [change])
    }
    const waiting = [...memberships.values()]
    for (let n = 0; n < waiting.length; n += atOnce)
      await Promise.all(waiting.slice(n, n + atOnce).map(tellInOrder))
  }
}
