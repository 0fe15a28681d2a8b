import type { ChatMessage, ToolCall } from '../ports/model.ts'

/** The ids of a run's calls. */
export type CallIds = {
  /** Calls with ids that no other call of the run has, nor any call in the messages. */
  distinct(calls: readonly ToolCall[], messages: readonly ChatMessage[]): ToolCall[]
  /** Calls keep the ids that they were recorded with. */
  keep(calls: readonly ToolCall[]): void
}

/**
 * Makes repeated ids distinct: some providers give several calls one id, but clients and other
 * providers find the result of a call by its id. `recorded`: the ids of the run's earlier attempts.
 */
export const callIds = (recorded: readonly string[] = []): CallIds => {
  /** How often each id was given. */
  const given = new Map(recorded.map((id) => [id, 1]))

  const keep = (calls: readonly ToolCall[]): void => {
    for (const { id } of calls) if (!given.has(id)) given.set(id, 1)
  }

  const free = (id: string): string => {
    let count = given.get(id) ?? 0
    let candidate = count === 0 ? id : `${id}_${++count}`
    while (candidate !== id && given.has(candidate)) candidate = `${id}_${++count}`
    given.set(id, Math.max(1, count))
    if (candidate !== id) given.set(candidate, 1)
    return candidate
  }

  return {
    keep,
    distinct(calls, messages) {
      for (const message of messages)
        if (message.role === 'assistant') keep(message.toolCalls ?? [])
      return calls.map((call) => ({ ...call, id: free(call.id) }))
    },
  }
}
