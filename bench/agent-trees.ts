import type { AgentType } from '../src/agents/agent.ts'
import type { Call } from '../src/ports/call.ts'
import { platformCall, type Tenant, type Writing } from './tenants.ts'

/** Agents of a tenant: one of several at once, and one for each way that the provider answers. */
export type Squad = { targetId: string; stampedId: string; silentId: string }

const makeSquad = async (
  { commands }: Writing,
  { organizationId }: Tenant,
  branches: number,
): Promise<Squad> => {
  const call: Call = { ...platformCall(), organizationId }
  const make = async (name: string, agentType: AgentType, model: string, subAgents: string[]) =>
    (await commands.createAgent({ name, agentType, model, subAgents }, call)).agentId
  const offline = 'offline/extractive'
  const names = Array.from({ length: branches }, (_, n) => `Branch ${n}`)
  const below: string[] = []
  for (const name of names) below.push(await make(name, 'LLM_AGENT', offline, []))
  return {
    targetId: await make('All at once', 'PARALLEL_AGENT', offline, below),
    stampedId: await make('Stamped', 'LLM_AGENT', 'mock/stamped', []),
    silentId: await make('Silent', 'LLM_AGENT', 'mock/silent', []),
  }
}

/** Gives every tenant its squad. */
export const makeSquads = (
  writing: Writing,
  tenants: readonly Tenant[],
  branches: number,
): Promise<(Tenant & Squad)[]> =>
  Promise.all(
    tenants.map(async (tenant) => ({ ...tenant, ...(await makeSquad(writing, tenant, branches)) })),
  )
