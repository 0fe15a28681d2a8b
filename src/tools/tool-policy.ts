import { createHash } from 'node:crypto'
import type { ToolPolicy } from '../agents/tool.ts'
import type { ToolCare } from '../domain/agent/events.ts'

/** How long a call waits for a decision where nothing is said: a day. */
const usualTtl = 86_400

/** The digest of a tool's definition, made when it is asked for. */
export const definitionOf = (definition: unknown) => (): string =>
  createHash('sha256').update(JSON.stringify(definition)).digest('hex')

type Itself = {
  effect: ToolPolicy['effect']
  keyed?: boolean
}

/** How a tool is used: as its agent says, else as it is by itself. */
export const policyOf = (
  { effect, onUnknown = 'tell', requiresApproval, approver = 'user', approvalTtl }: ToolCare,
  itself: Itself,
): ToolPolicy => ({
  effect: effect ?? itself.effect,
  keyed: itself.keyed ?? false,
  onUnknown,
  ...(requiresApproval ? { approval: { approver, ttlSeconds: approvalTtl ?? usualTtl } } : {}),
})
