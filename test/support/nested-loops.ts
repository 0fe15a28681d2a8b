import type { platform } from './platform.ts'

type Organization = Awaited<ReturnType<ReturnType<typeof platform>['organization']>>

/** The id of an agent that loops over loops, 100 times each, over the offline model. */
export const nestedLoops = async (organization: Organization): Promise<string> => {
  let below = await organization.agent({ name: 'Worker' })
  for (const name of ['Third', 'Second', 'First', 'Outermost'])
    below = await organization.agent({
      name,
      agent_type: 'LOOP_AGENT',
      max_iterations: 100,
      sub_agents: [below],
    })
  return below
}
