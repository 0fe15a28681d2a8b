import type { Organization } from './platform.ts'

/** An agent that runs Left and Right side by side. */
export const parallelAgents = async (organization: Organization): Promise<string> => {
  const left = await organization.agent({ name: 'Left' })
  const right = await organization.agent({ name: 'Right' })
  return organization.agent({
    name: 'Both',
    agent_type: 'PARALLEL_AGENT',
    sub_agents: [left, right],
  })
}
