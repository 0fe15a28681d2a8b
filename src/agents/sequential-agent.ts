import { defer } from 'rxjs'
import type { AgentKind } from './agent-kind.ts'
import { someBelow } from './hand-over.ts'
import { inOrder } from './in-order.ts'

/** Its active sub-agents, once each, in the configured order. */
export const sequentialAgent: AgentKind = (agent, step, runtime) =>
  defer(() => inOrder(agent, someBelow(agent, step), step, runtime))
