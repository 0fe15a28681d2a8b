import { defer } from 'rxjs'
import type { AgentKind } from './agent-kind.ts'
import { inBranchOrder } from './branch-order.ts'
import { someBelow } from './hand-over.ts'

/** Its active sub-agents, once each, in the configured order. */
export const sequentialAgent: AgentKind = (agent, step, runtime) =>
  defer(() => inBranchOrder(agent, someBelow(agent, step), step, runtime))
