import type { ChatMessage, ToolCall } from '../ports/model.ts'

/** The ids of a run's calls. */
export type CallIds = {
  /** Calls with ids that no other call has, in the run and in what the model was shown. */
  distinct(calls: readonly ToolCall[], shown: readonly ChatMessage[]): ToolCall[]
  /** Calls keep the ids that they were recorded with. */
  keep(calls: readonly ToolCall[]): void
}

/**
 * Some providers give several calls one id. Clients and other providers know a call, and its result,
 * by its id alone.
 */
export const callIds = (): CallIds => {
  /** How often each id was given. */
  const given = new Map<string, number>()

  const keep = (calls: readonly ToolCall[]): void => {
    for (const { id } of calls) if (!given.has(id)) given.set(id, 1)
  }

  const free = (id: string): string => {
    let count = given.get(id) ?? 0
    let one = count === 0 ? id : `${id}_${++count}`
    while (one !== id && given.has(one)) one = `${id}_${++count}`
    given.set(id, Math.max(1, count))
    if (one !== id) given.set(one, 1)
    return one
  }

  return {
    keep,
    distinct(calls, shown) {
      for (const message of shown) if (message.role === 'assistant') keep(message.toolCalls ?? [])
      return calls.map((call) => ({ ...call, id: free(call.id) }))
    },
  }
}
