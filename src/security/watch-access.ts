import { Refusal } from '../domain/refusal.ts'
import { type SlotMap, slotMap } from '../support/slot-map.ts'
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

type Group = Used & { name: string; holders: SlotMap<number, Holder>; seen: Access | undefined }

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
  const groups = slotMap<string, Group>()
  let holds = 0
  let timer: NodeJS.Timeout | undefined

  const leave = (group: Group, hold: number): void => {
    const { name, holders } = group
    holders.delete(hold)
    if (holders.size === 0 && groups.get(name) === group) groups.delete(name)
    if (groups.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  const lose = ({ lost }: Holder, error: unknown): void => {
    // Views that cannot be read take no rights.
    if (error instanceof Refusal) lost(error)
  }

  const look = async (group: Group): Promise<void> => {
    const { apiKey, organizationId, holders } = group
    try {
      const access = await findAccess(apiKey, organizationId)
      if (group.seen === access) return
      group.seen = access
      for (const holder of holders.all()) {
        try {
          holder.require(access)
        } catch (error) {
          lose(holder, error)
        }
      }
    } catch (error) {
      for (const holder of holders.all()) lose(holder, error)
    }
  }

  const sweep = (): void => {
    for (const group of groups.all()) void look(group)
  }

  return (used, holder) => {
    const name = `${used.organizationId} ${used.apiKey}`
    const group = groups.get(name) ?? { ...used, name, holders: slotMap(), seen: undefined }
    groups.set(name, group)
    const hold = holds++
    const end = () => leave(group, hold)
    group.holders.set(hold, {
      ...holder,
      lost(refusal) {
        end()
        holder.lost(refusal)
      },
    })
    // What the new holder began with may have changed before it came.
    group.seen = undefined
    timer ??= setInterval(sweep, everyMs).unref()
    return end
  }
}
