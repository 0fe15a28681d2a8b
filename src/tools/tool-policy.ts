import type { ToolPolicy } from '../agents/tool.ts'
import type { ToolCare } from '../domain/agent/events.ts'

/** How long a call waits for a decision where nothing is said: a day. */
const usualTtl = 86_400

/** How a tool is used: as its agent says, else as it is by itself. */
export const policyOf = (
  { effect, onUnknown = 'tell', requiresApproval, approver = 'user', approvalTtl }: ToolCare,
  itself: { effect: ToolPolicy['effect']; keyed?: boolean },
): ToolPolicy => ({
  effect: effect ?? itself.effect,
  keyed: itself.keyed ?? false,
  onUnknown,
  ...(requiresApproval ? { approval: { approver, ttlSeconds: approvalTtl ?? usualTtl } } : {}),
})
