import { z } from 'zod'
import {
  type AgentConfiguration,
  agentEvents,
  type ConfiguredTool,
  type McpServerConfig,
  type ToolCare,
} from '../src/domain/agent/events.ts'
import { text } from './fields.ts'

const { shape } = agentEvents.AgentCreated
const [builtIn, apiCall, approvable] = shape.tools.element.options
const server = shape.mcpServers.element

const consent = {
  requires_approval: approvable.shape.requiresApproval,
  approver: approvable.shape.approver,
  approval_ttl: approvable.shape.approvalTtl,
}
const care = {
  effect: apiCall.shape.effect,
  on_unknown: apiCall.shape.onUnknown,
  ...consent,
}

const shownApiCall = apiCall
  .pick({
    type: true,
    name: true,
    description: true,
    method: true,
    url: true,
    headers: true,
    parameters: true,
  })
  .extend({ idempotency_header: text.optional(), ...care })
const shownApprovable = approvable.pick({ type: true }).extend(consent)

/** Tools and servers in their answer's shape; what is not set is not there. */
export const agentTools = z.array(z.union([builtIn, shownApiCall, shownApprovable]))
export const agentServers = z.array(
  server
    .pick({ name: true, url: true, headers: true })
    .extend({ tools: z.record(text, z.object(care)).optional(), ...care }),
)

type ShownTool = z.infer<typeof agentTools>[number]
type ShownServer = z.infer<typeof agentServers>[number]
type ShownCare = z.infer<z.ZodObject<typeof care>>

/** Without the fields that are undefined. */
const present = <Fields extends object>(fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields

const mapped = <From, To>(
  tools: Readonly<Record<string, From>> | undefined,
  change: (one: From) => To,
): Record<string, To> | undefined =>
  tools && Object.fromEntries(Object.entries(tools).map(([name, one]) => [name, change(one)]))

const shownCare = (one: ToolCare): ShownCare =>
  present({
    effect: one.effect,
    on_unknown: one.onUnknown,
    requires_approval: one.requiresApproval,
    approver: one.approver,
    approval_ttl: one.approvalTtl,
  })

const careOf = (one: ShownCare): ToolCare =>
  present({
    effect: one.effect,
    onUnknown: one.on_unknown,
    requiresApproval: one.requires_approval,
    approver: one.approver,
    approvalTtl: one.approval_ttl,
  })

const shownTool = (tool: ConfiguredTool): ShownTool => {
  if (typeof tool === 'string') return tool
  if (tool.type !== 'api_call') return { type: tool.type, ...shownCare(tool) }
  const { effect, onUnknown, requiresApproval, approver, approvalTtl, ...call } = tool
  const { idempotencyHeader: idempotency_header, ...own } = call
  return present({ ...own, idempotency_header, ...shownCare(tool) })
}

const toolOf = (tool: ShownTool): ConfiguredTool => {
  if (typeof tool === 'string') return tool
  if (tool.type !== 'api_call') return { type: tool.type, ...careOf(tool) }
  const { effect, on_unknown, requires_approval, approver, approval_ttl, ...call } = tool
  const { idempotency_header: idempotencyHeader, ...own } = call
  return present({ ...own, idempotencyHeader, ...careOf(tool) })
}

const shownServer = ({ name, url, headers, tools, ...one }: McpServerConfig): ShownServer =>
  present({ name, url, headers, tools: mapped(tools, shownCare), ...shownCare(one) })

const serverOf = ({ name, url, headers, tools, ...one }: ShownServer): McpServerConfig =>
  present({ name, url, headers, tools: mapped(tools, careOf), ...careOf(one) })

export const shownTools = (tools: AgentConfiguration['tools']): ShownTool[] => tools.map(shownTool)
export const toolsOf = (tools: readonly ShownTool[]): ConfiguredTool[] => tools.map(toolOf)
export const shownServers = (servers: AgentConfiguration['mcpServers']): ShownServer[] =>
  servers.map(shownServer)
export const serversOf = (servers: readonly ShownServer[]): McpServerConfig[] =>
  servers.map(serverOf)
