import type { AgentConfiguration } from '../src/domain/agent/events.ts'
import type { Scope } from '../src/domain/api-key/scopes.ts'
import type { Call } from '../src/ports/call.ts'
import { makeTenants, platformCall, type Tenant, type Writing } from './tenants.ts'

/** What agents of a tenant do, by what a model answers (`bench/baselines/upstream.ts`). */
const models = {
  plain: 'mock/plain',
  /** Three calls at once that read. */
  reading: 'mock/calls-look.3',
  /** Three calls that write, one after another. */
  writing: 'mock/calls-book.1-book.1-book.1',
  /** One call, for which somebody has to agree. */
  asking: 'mock/calls-refund.1',
  /** 6 answers and 44 calls, and then one for which somebody has to agree. */
  askingLate: 'mock/calls-look.8-look.8-look.8-look.8-look.8-look.4-refund.1',
} as const

export type Worker = Tenant & { agents: Readonly<Record<keyof typeof models, string>> }

const scopes: readonly Scope[] = [
  'orchestrator:invoke',
  'sessions:messages',
  'approvals:read',
  'approvals:decide',
]

const toolsAt = (url: string): AgentConfiguration['tools'] => {
  const tool = (name: string, method: string) => ({
    type: 'api_call' as const,
    name,
    description: '',
    method,
    url: `${url}/tool`,
    headers: {},
    parameters: { type: 'object' },
  })
  return [
    tool('look', 'GET'),
    tool('book', 'POST'),
    { ...tool('refund', 'POST'), requiresApproval: true },
  ]
}

/** Tenants whose agents call the tools of a provider. */
export const makeWorkers = async (
  writing: Writing,
  count: number,
  provider: string,
): Promise<Worker[]> => {
  const tools = toolsAt(provider)
  const workers: Worker[] = []
  for (const tenant of await makeTenants(writing, count, scopes)) {
    const call: Call = { ...platformCall(), organizationId: tenant.organizationId }
    const agents = Object.entries(models).map(async ([name, model]) => {
      const { agentId } = await writing.commands.createAgent({ name, model, tools }, call)
      return [name, agentId]
    })
    workers.push({ ...tenant, agents: Object.fromEntries(await Promise.all(agents)) })
  }
  return workers
}
