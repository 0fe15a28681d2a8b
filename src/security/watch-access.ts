import { Refusal } from '../domain/refusal.ts'
import type { Access, FindAccess } from './access.ts'

/** A key in the organization that it is used in. */
type Used = { apiKey: string; organizationId: string }

type Holder = {
  /** What is held needs this of the key's access. @throws Refusal */
  require(access: Access): void
  /** Called once, when the key is no longer valid or allows less. */
  lost(refusal: Refusal): void
}

/** Calls back when a right is lost; the function that it returns ends that. */
export type WatchAccess = (used: Used, holder: Holder) => () => void

type Group = Used & { holders: Set<Holder>; seen: Access | undefined }

/**
 * How often held rights are looked at. With the time that a found access is kept at most
 * (queries/access-cache.ts), a right that was taken on another node ends within 5 seconds.
 */
const usualMs = 1_500

/**
 * Watches the rights of what outlasts a request: streams and sockets. A key is looked up once for all
 * that hold it; only an access that differs from the last one is given to them.
 */
export const watchAccess = (findAccess: FindAccess, everyMs = usualMs): WatchAccess => {
  const groups = new Map<string, Group>()
  let timer: NodeJS.Timeout | undefined

  const leave = (name: string, group: Group, holder: Holder): void => {
    group.holders.delete(holder)
    if (group.holders.size === 0 && groups.get(name) === group) groups.delete(name)
    if (groups.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  const lose = (name: string, group: Group, holder: Holder, error: unknown): void => {
    // Views that cannot be read take no rights.
    if (!(error instanceof Refusal)) return
    leave(name, group, holder)
    holder.lost(error)
  }

  const look = async (name: string, group: Group): Promise<void> => {
    const { apiKey, organizationId, holders } = group
    try {
      const access = await findAccess(apiKey, organizationId)
      if (group.seen === access) return
      group.seen = access
      for (const holder of [...holders]) {
        try {
          holder.require(access)
        } catch (error) {
          lose(name, group, holder, error)
        }
      }
    } catch (error) {
      for (const holder of [...holders]) lose(name, group, holder, error)
    }
  }

  const sweep = (): void => {
    for (const [name, group] of groups) void look(name, group)
  }

  return (used, holder) => {
    const name = `${used.organizationId} ${used.apiKey}`
    const group = groups.get(name) ?? { ...used, holders: new Set(), seen: undefined }
    groups.set(name, group)
    group.holders.add(holder)
    // What the new holder began with may have changed before it came.
    group.seen = undefined
    timer ??= setInterval(sweep, everyMs).unref()
    return () => leave(name, group, holder)
  }
}
