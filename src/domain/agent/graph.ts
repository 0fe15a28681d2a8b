/** The agents that an agent runs, in order. An agent that does not exist runs none. */
export type Below = (agentId: string) => readonly string[]

/** An agent and all that it runs, each once, itself first. */
export const reached = (start: string, below: Below): Set<string> => {
  const seen = new Set([start])
  for (const id of seen) for (const next of below(id)) seen.add(next)
  return seen
}

/** The way from an agent back to itself, both ends included; undefined where there is none. */
export const wayBack = (agentId: string, below: Below): readonly string[] | undefined => {
  const seen = new Set<string>()
  const from = (id: string): readonly string[] | undefined => {
    for (const next of below(id)) {
      if (next === agentId) return [id, next]
      if (seen.has(next)) continue
      seen.add(next)
      const way = from(next)
      if (way) return [id, ...way]
    }
    return undefined
  }
  return from(agentId)
}

/**
 * Counts the agents of the longest chain that an agent begins, itself included. Only for graphs
 * without cycles; each agent is counted once.
 */
export const levelCounter = (below: Below) => {
  const known = new Map<string, number>()
  const levels = (agentId: string): number => {
    const count = known.get(agentId)
    if (count !== undefined) return count
    const counted = 1 + Math.max(0, ...below(agentId).map(levels))
    known.set(agentId, counted)
    return counted
  }
  return levels
}
