/** What a tree is made of. */
type Member = { agent_id: string; name: string; sub_agents: readonly string[] }

export type TreeNode<T extends Member> = {
  agent: T
  /** Shown with its own agents at another place. */
  isRepeated: boolean
  children: TreeNode<T>[]
}

/**
 * Who runs whom: the orchestrator with its agents, then the agents that nobody runs. An agent that
 * several run has its own agents only at its first place, so each is listed once in full.
 */
export const treeOf = <T extends Member>(
  agents: readonly T[],
  orchestratorId: string | undefined,
): TreeNode<T>[] => {
  const byId = new Map(agents.map((agent) => [agent.agent_id, agent]))
  const seen = new Set<string>()
  const nodeOf = (agent: T): TreeNode<T> => {
    const isRepeated = seen.has(agent.agent_id)
    seen.add(agent.agent_id)
    const children = isRepeated
      ? []
      : agent.sub_agents.flatMap((id) => {
          const child = byId.get(id)
          return child ? [nodeOf(child)] : []
        })
    return { agent, isRepeated, children }
  }
  const run = new Set(agents.flatMap(({ sub_agents }) => sub_agents))
  const roots = agents.filter(({ agent_id }) => !run.has(agent_id))
  const isFirst = ({ agent_id }: T) => agent_id === orchestratorId
  return [...roots.filter(isFirst), ...roots.filter((agent) => !isFirst(agent))].map(nodeOf)
}

/** The agent and all that run it, directly or through others: none of them can be its sub-agent. */
export const ancestorsOf = (agents: readonly Member[], agentId: string): ReadonlySet<string> => {
  const ids = new Set([agentId])
  for (let size = 0; size !== ids.size; ) {
    size = ids.size
    for (const { agent_id, sub_agents } of agents)
      if (sub_agents.some((id) => ids.has(id))) ids.add(agent_id)
  }
  return ids
}
