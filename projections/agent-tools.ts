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

const apiCallView = apiCall
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
const approvableView = approvable.pick({ type: true }).extend(consent)

/** Tools and servers in their answer's shape, without unset fields. */
export const agentTools = z.array(z.union([builtIn, apiCallView, approvableView]))
export const agentServers = z.array(
  server
    .pick({ name: true, url: true, headers: true })
    .extend({ tools: z.record(text, z.object(care)).optional(), ...care }),
)

type ToolView = z.infer<typeof agentTools>[number]
type ServerView = z.infer<typeof agentServers>[number]
type CareView = z.infer<z.ZodObject<typeof care>>

/** Without the fields that are undefined. */
const present = <Fields extends object>(fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields

const mapped = <From, To>(
  tools: Readonly<Record<string, From>> | undefined,
  change: (item: From) => To,
): Record<string, To> | undefined =>
  tools && Object.fromEntries(Object.entries(tools).map(([name, item]) => [name, change(item)]))

const careView = (policy: ToolCare): CareView =>
  present({
    effect: policy.effect,
    on_unknown: policy.onUnknown,
    requires_approval: policy.requiresApproval,
    approver: policy.approver,
    approval_ttl: policy.approvalTtl,
  })

const careOf = (view: CareView): ToolCare =>
  present({
    effect: view.effect,
    onUnknown: view.on_unknown,
    requiresApproval: view.requires_approval,
    approver: view.approver,
    approvalTtl: view.approval_ttl,
  })

const toolView = (tool: ConfiguredTool): ToolView => {
  if (typeof tool === 'string') return tool
  if (tool.type !== 'api_call') return { type: tool.type, ...careView(tool) }
  const { effect, onUnknown, requiresApproval, approver, approvalTtl, ...call } = tool
  const { idempotencyHeader: idempotency_header, ...own } = call
  return present({ ...own, idempotency_header, ...careView(tool) })
}

const toolOf = (tool: ToolView): ConfiguredTool => {
  if (typeof tool === 'string') return tool
  if (tool.type !== 'api_call') return { type: tool.type, ...careOf(tool) }
  const { effect, on_unknown, requires_approval, approver, approval_ttl, ...call } = tool
  const { idempotency_header: idempotencyHeader, ...own } = call
  return present({ ...own, idempotencyHeader, ...careOf(tool) })
}

const serverView = ({ name, url, headers, tools, ...policy }: McpServerConfig): ServerView =>
  present({ name, url, headers, tools: mapped(tools, careView), ...careView(policy) })

const serverOf = ({ name, url, headers, tools, ...view }: ServerView): McpServerConfig =>
  present({ name, url, headers, tools: mapped(tools, careOf), ...careOf(view) })

export const toolViews = (tools: AgentConfiguration['tools']): ToolView[] => tools.map(toolView)
export const toolsOf = (tools: readonly ToolView[]): ConfiguredTool[] => tools.map(toolOf)
export const serverViews = (servers: AgentConfiguration['mcpServers']): ServerView[] =>
  servers.map(serverView)
export const serversOf = (servers: readonly ServerView[]): McpServerConfig[] =>
  servers.map(serverOf)
