import type { Call } from '../ports/call.ts'
import type { Clock } from '../ports/clock.ts'

/** How many there were, and the times of the first and the last, in ISO 8601. */
export type Count = { count: number; from: string; to: string }

type Options<Item extends { call: Call }> = {
  /** Items of one organization with the same kind are counted together. */
  kindOf(item: Item): string
  /** The label that a summary counts by, with few distinct values. */
  groupOf(item: Item): string
  /** Record the first item of a kind in a minute, the rest of that kind, and what had no kind. */
  recordFirst(item: Item): Promise<void>
  recordMore(last: Item, count: Count): Promise<void>
  recordSummary(call: Call, count: Count, groups: Record<string, number>): Promise<void>
  clock: Clock
  sweepMs?: number | undefined
  /** How many kinds are counted apart: of one organization, and of all together. */
  organizationKinds?: number | undefined
  maxKinds?: number | undefined
  /** How many writes may be in progress before first items are only counted. */
  maxWriting?: number | undefined
}

/** Items of one kind in one minute; `more` are those without an event of their own. */
type Kind<Item> = { minute: number; last: Item; more: Count }

type Summary = { minute: number; call: Call; count: Count; groups: Map<string, number> }

type Organization<Item> = { kinds: Map<string, Kind<Item>>; summary?: Summary | undefined }

const minuteMs = 60_000

const add = (count: Count, { at }: Call): void => {
  if (count.count === 0) count.from = at
  if (count.count === 0 || at > count.to) count.to = at
  count.count++
}

/**
 * Samples frequent items: per organization, kind and minute, the first is recorded and the rest
 * become one count. Kinds beyond an organization's limit become one summary a minute. Nobody waits
 * for it, and a crash loses a minute's counts.
 */
export const minuteMeter = <Item extends { call: Call }>(options: Options<Item>) => {
  const { kindOf, groupOf, recordFirst, recordMore, recordSummary, clock } = options
  const { sweepMs = 5_000, organizationKinds = 200 } = options
  const { maxKinds = 20_000, maxWriting = 500 } = options
  const organizations = new Map<string, Organization<Item>>()
  const writing = new Set<Promise<void>>()
  let kindsOfAll = 0

  const write = (record: Promise<void>): void => {
    const pending = record.finally(() => writing.delete(pending))
    writing.add(pending)
  }

  const settleKind = ({ kinds }: Organization<Item>, name: string, kind: Kind<Item>): void => {
    if (kinds.delete(name)) kindsOfAll--
    if (kind.more.count > 0) write(recordMore(kind.last, kind.more))
  }

  const settleSummary = (organization: Organization<Item>): void => {
    const { summary } = organization
    organization.summary = undefined
    if (summary)
      write(recordSummary(summary.call, summary.count, Object.fromEntries(summary.groups)))
  }

  const settleBefore = (minute: number): void => {
    for (const [id, organization] of organizations) {
      const { kinds, summary } = organization
      for (const [name, kind] of kinds)
        if (kind.minute < minute) settleKind(organization, name, kind)
      if (summary && summary.minute < minute) settleSummary(organization)
      if (kinds.size === 0 && !organization.summary) organizations.delete(id)
    }
  }

  const summarize = (organization: Organization<Item>, item: Item, minute: number): void => {
    if (organization.summary && organization.summary.minute < minute) settleSummary(organization)
    const { call } = item
    const count = { count: 0, from: call.at, to: call.at }
    organization.summary ??= { minute, call, count, groups: new Map() }
    const { summary } = organization
    summary.call = call
    add(summary.count, call)
    const group = groupOf(item)
    summary.groups.set(group, (summary.groups.get(group) ?? 0) + 1)
  }

  const minuteNow = () => Math.floor(clock.monotonic() / minuteMs)

  const timer = setInterval(() => settleBefore(minuteNow()), sweepMs).unref()

  return {
    add(item: Item): void {
      const { organizationId, at } = item.call
      const minute = minuteNow()
      const organization: Organization<Item> = organizations.get(organizationId) ?? {
        kinds: new Map(),
      }
      organizations.set(organizationId, organization)
      const { kinds } = organization
      const name = kindOf(item)
      const known = kinds.get(name)
      if (known?.minute === minute) {
        add(known.more, item.call)
        known.last = item
        return
      }
      if (known) settleKind(organization, name, known)
      if (kinds.size >= organizationKinds || kindsOfAll >= maxKinds) {
        summarize(organization, item, minute)
        return
      }
      const busy = writing.size >= maxWriting
      kinds.set(name, { minute, last: item, more: { count: busy ? 1 : 0, from: at, to: at } })
      kindsOfAll++
      if (!busy) write(recordFirst(item))
    },

    /** Records the counts so far and stops; resolves when all is stored. */
    async close(): Promise<void> {
      clearInterval(timer)
      settleBefore(Number.POSITIVE_INFINITY)
      await Promise.all(writing)
    },
  }
}
