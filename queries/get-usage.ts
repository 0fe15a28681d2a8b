import { together } from '../projections/durations.ts'
import { figuresOf, type UsageView } from '../projections/usage.ts'
import { saturate } from '../src/domain/amounts.ts'
import type { View } from '../src/ports/views.ts'
import { findAll } from './find-all.ts'

/** The fields that usage can be grouped by. */
export const usageParts = ['day', 'agent_id', 'user_id', 'key_id', 'model'] as const
export type UsagePart = (typeof usageParts)[number]

export type UsageQuery = {
  organizationId: string
  /** Days (UTC), both inclusive. */
  from?: string | undefined
  to?: string | undefined
  by: readonly UsagePart[]
}

const summed = (views: readonly UsageView[]) => {
  const sum = (of: (view: UsageView) => number) =>
    views.reduce((all, view) => saturate(all + of(view)), 0)
  return {
    runs: sum(({ runs }) => runs),
    completed: sum(({ completed }) => completed),
    failed: sum(({ failed }) => failed),
    cancelled: sum(({ cancelled }) => cancelled),
    timed_out: sum(({ timed_out }) => timed_out),
    last_day: views.reduce<string | null>(
      (last, { day }) => (last === null || day > last ? day : last),
      null,
    ),
    prompt_tokens: sum(({ prompt_tokens }) => prompt_tokens),
    completion_tokens: sum(({ completion_tokens }) => completion_tokens),
    ...figuresOf(
      sum(({ charge }) => charge),
      together(views.map(({ durations }) => durations)),
    ),
  }
}

/** An organization's usage: in all, and grouped by the given fields, in their order. */
export const getUsage =
  ({ usage }: { usage: View<UsageView> }) =>
  async ({ organizationId, from = '', to = '9999-12-31', by }: UsageQuery) => {
    const documents = await findAll(usage, {
      index: 'by_organization',
      equals: [organizationId],
      from,
      below: `${to}~`,
    })
    const groups = new Map<string, UsageView[]>()
    for (const view of documents) {
      const name = JSON.stringify(by.map((part) => view[part] ?? null))
      const group = groups.get(name)
      if (group) group.push(view)
      else groups.set(name, [view])
    }
    const rows = [...groups].map(([, views]) => ({
      ...Object.fromEntries(by.map((part) => [part, views[0]?.[part] ?? null])),
      ...summed(views),
    }))
    return { total: summed(documents), usage: rows }
  }
export type GetUsage = ReturnType<typeof getUsage>
