import { Refusal } from '../domain/refusal.ts'
import type { Access, FindAccess } from './access.ts'

/** A key, or a console session, in the organization that it is used in. */
type Used = {
  apiKey: string | undefined
  consoleToken?: string | undefined
  organizationId: string
}

type Holder = {
  /** What is held needs this of the key's access. @throws Refusal */
  require(access: Access): void
  /** Called once, when the key is no longer valid or allows less. */
  lost(refusal: Refusal): void
}

/** Calls back when a right is lost; the function that it returns ends that. */
export type WatchAccess = (used: Used, holder: Holder) => () => void

/** `place` is where it is among all; it is there as long as it is held. */
type Hold = Used & { holder: Holder; seen: Access | undefined; place: number }

/**
 * How often held rights are looked at. With the time that a found access is kept at most
 * (src/caches/access-cache.ts), a right that was taken on another node ends within 5 seconds.
 */
const usualMs = 1_500

/**
 * Watches the rights of streams and sockets, which outlast a request. A key is looked up once for
 * all its holders; they are given only an access that differs from the last one. Holders are
 * grouped by key only at a look-up: most streams end before one.
 */
export const watchAccess = (findAccess: FindAccess, everyMs = usualMs): WatchAccess => {
  const holds: Hold[] = []
  let timer: NodeJS.Timeout | undefined

  const isHeld = (hold: Hold): boolean => holds[hold.place] === hold

  const leave = (hold: Hold): void => {
    if (!isHeld(hold)) return
    const last = holds.pop()
    if (last && last !== hold) {
      last.place = hold.place
      holds[last.place] = last
    }
    if (holds.length > 0) return
    clearInterval(timer)
    timer = undefined
  }

  const lose = (hold: Hold, error: unknown): void => {
    // Views that cannot be read take no rights.
    if (!isHeld(hold) || !(error instanceof Refusal)) return
    leave(hold)
    hold.holder.lost(error)
  }

  const look = async (used: Used, group: readonly Hold[]): Promise<void> => {
    const { apiKey, consoleToken, organizationId } = used
    try {
      const access = await findAccess(apiKey, organizationId, consoleToken)
      for (const hold of group) {
        if (!isHeld(hold) || hold.seen === access) continue
        hold.seen = access
        try {
          hold.holder.require(access)
        } catch (error) {
          lose(hold, error)
        }
      }
    } catch (error) {
      for (const hold of group) lose(hold, error)
    }
  }

  const sweep = (): void => {
    const byKey = new Map<string, [Hold, ...Hold[]]>()
    for (const hold of holds) {
      const name = `${hold.organizationId} ${hold.apiKey ?? ''} ${hold.consoleToken ?? ''}`
      const group = byKey.get(name)
      if (group) group.push(hold)
      else byKey.set(name, [hold])
    }
    for (const group of byKey.values()) void look(group[0], group)
  }

  return ({ apiKey, consoleToken, organizationId }, holder) => {
    const place = holds.length
    const hold = { apiKey, consoleToken, organizationId, holder, seen: undefined, place }
    holds.push(hold)
    timer ??= setInterval(sweep, everyMs).unref()
    return () => leave(hold)
  }
}
