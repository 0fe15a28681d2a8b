import { user } from '../../support/client.ts'
import { rounds } from '../../support/rounds.ts'
import { type Attack, expect } from '../../support/under-attack.ts'

/** Agents of four levels, each of which runs all of the next one. */
const levels = 4
const width = rounds(50, 100)
const turns = rounds(10, 20)

/**
 * Hundreds of agents of 81 kB, all of which a turn can come to; one is changed before each turn.
 */
export const largeAgents: Attack = async (server) => {
  const organization = await server.platform.organization({ credits: 1_000_000 })
  const at = `/organizations/${organization.organizationId}/agents`
  const instruction = 'i'.repeat(64_000)
  const parameters = { type: 'object', description: 'p'.repeat(17_000) }
  const tool = { type: 'api_call', name: 'look', method: 'GET', url: 'http://127.0.0.1:1/' }
  let below: string[] = []
  for (let level = 0; level < levels; level++) {
    const agents: string[] = []
    for (let n = 0; n < width; n++)
      agents.push(
        await organization.agent({
          name: `Agent ${level}.${n}`,
          instruction,
          tools: [{ ...tool, parameters }],
          sub_agents: below,
        }),
      )
    below = agents
  }
  const orchestrator = await organization.orchestrator()
  await server.platform.ask('PATCH', `${at}/${orchestrator}`, { sub_agents: below })
  const key = await organization.key()
  return async () => {
    for (let turn = 0; turn < turns; turn++) {
      const changed = below[turn % width]
      await server.platform.ask('PATCH', `${at}/${changed}`, { description: `Change ${turn}` })
      expect(await key.chat({ messages: user('Hi') }), 200)
      const squads = expect(await key.ask('GET', '/api/external/management/agents'), 200)
      if (squads.body.total !== levels * width + 1) throw new Error('agents are missing')
      expect(await key.ask('GET', '/api/external/agents'), 200)
      expect(await key.ask('GET', '/api/external/v1/models'), 200)
    }
  }
}
