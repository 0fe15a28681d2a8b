import type { AgentEvent } from '../../agents/agent-event.ts'
import { chargeOf, creditUnit } from '../../domain/amounts.ts'
import type { Attributes, Span, Telemetry } from '../../ports/telemetry.ts'
import type { WatchedRun, WatchRun } from './watch-run.ts'

type Open = { span: Span; text: string }

/** Ends of an attempt that are no failures. */
const withoutError: ReadonlySet<string> = new Set(['done', 'paused', 'handed_over'])

const providerOf = (model: string): string => model.slice(0, Math.max(0, model.indexOf('/')))

/** The open spans of a run. */
type OpenSpans = {
  run: WatchedRun
  telemetry: Telemetry
  /** Agents by step, in the order they began. */
  agents: Map<string, Open & { name: string; depth: number }>
  chats: Map<string, Open & { promptTokens: number }>
  tools: Map<string, Span>
}

type EventOf<Name extends AgentEvent['event']> = Extract<AgentEvent, { event: Name }>

/** The span of the agent of this name that began last. */
const agentSpan = ({ agents, run }: OpenSpans, name: string | null) =>
  [...agents.values()].findLast((agent) => agent.name === name)?.span.context ?? run.call.trace

/** A message as an attribute, where texts are allowed. */
const messageAttribute = (
  { telemetry }: OpenSpans,
  name: string,
  role: string,
  content: string,
): Attributes =>
  telemetry.texts ? { [name]: JSON.stringify([{ role, parts: [{ type: 'text', content }] }]) } : {}

const beginAgent = (spans: OpenSpans, event: EventOf<'agent_started'>): void => {
  const { agents, telemetry, run } = spans
  const { agent: name, agent_id, agent_type, depth, parent_agent, step_id } = event
  const isFirst = depth === 0 || parent_agent === null
  const attributes = {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': name,
    'gen_ai.agent.id': agent_id,
    'gen_ai.conversation.id': run.sessionId,
    'reprise.agent_type': agent_type,
    'reprise.run_id': run.runId,
    ...(isFirst ? messageAttribute(spans, 'gen_ai.input.messages', 'user', run.message) : {}),
  }
  const parent = agentSpan(spans, parent_agent)
  const span = telemetry.begin(`invoke_agent ${name}`, { parent, attributes })
  agents.set(step_id, { span, name, depth, text: '' })
}

const endAgent = (spans: OpenSpans, event: EventOf<'agent_completed'>): void => {
  const { step_id, usage, answer, error } = event
  const output = answer
    ? messageAttribute(spans, 'gen_ai.output.messages', 'assistant', answer.text)
    : {}
  spans.agents.get(step_id)?.span.end(
    {
      'gen_ai.usage.input_tokens': usage.promptTokens,
      'gen_ai.usage.output_tokens': usage.completionTokens,
      ...output,
    },
    error,
  )
  spans.agents.delete(step_id)
}

const beginChat = (spans: OpenSpans, event: EventOf<'model_called'>): void => {
  const { agents, chats, telemetry, run } = spans
  const { step_id, model, prompt_tokens: promptTokens } = event
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': providerOf(model),
    'gen_ai.request.model': model,
    'gen_ai.conversation.id': run.sessionId,
  }
  const parent = agents.get(step_id)?.span.context ?? run.call.trace
  const span = telemetry.begin(`chat ${model}`, { kind: 'client', parent, attributes })
  chats.set(step_id, { span, promptTokens, text: '' })
}

const collectText = ({ chats, telemetry }: OpenSpans, event: EventOf<'token'>): void => {
  const chat = telemetry.texts ? chats.get(event.step_id) : undefined
  if (chat) chat.text += event.text
}

const endChat = (spans: OpenSpans, event: EventOf<'model_answered'>): void => {
  const { step_id, model, usage, price } = event
  const { promptTokens, completionTokens } = usage
  const chat = spans.chats.get(step_id)
  chat?.span.end({
    'gen_ai.response.model': model,
    'gen_ai.usage.input_tokens': promptTokens,
    'gen_ai.usage.output_tokens': completionTokens,
    'reprise.charge_credits': chargeOf(usage, price) / creditUnit,
    ...messageAttribute(spans, 'gen_ai.output.messages', 'assistant', chat.text),
  })
  spans.chats.delete(step_id)
}

type NamedTool = { tool_id: string; tool_name: string; agent_name: string }

const toolSpan = (
  spans: OpenSpans,
  { tool_id, tool_name, agent_name }: NamedTool,
  more: Attributes = {},
): Span => {
  const attributes = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': tool_name,
    'gen_ai.tool.call.id': tool_id,
    'gen_ai.tool.type': 'function',
    ...more,
  }
  const parent = agentSpan(spans, agent_name)
  return spans.telemetry.begin(`execute_tool ${tool_name}`, { parent, attributes })
}

const beginTool = (spans: OpenSpans, event: EventOf<'tool_started'>): void => {
  const texts = spans.telemetry.texts ? { 'gen_ai.tool.call.arguments': event.arguments } : {}
  spans.tools.set(event.tool_id, toolSpan(spans, event, texts))
}

const endTool = (spans: OpenSpans, event: EventOf<'tool_completed'>): void => {
  const { tool_id, ok } = event
  // A tool that began in another attempt has its span here.
  const span = spans.tools.get(tool_id) ?? toolSpan(spans, event)
  span.end({}, ok ? undefined : 'tool_failed')
  spans.tools.delete(tool_id)
}

const endAll = ({ agents, chats, tools }: OpenSpans, error: string | undefined): void => {
  for (const span of tools.values()) span.end({}, error)
  for (const { span } of chats.values()) span.end({}, error)
  for (const { span } of [...agents.values()].reverse()) span.end({}, error)
}

/**
 * A run as spans of OpenTelemetry's GenAI conventions: `invoke_agent` for each agent, below it
 * `chat` and `execute_tool`. Texts are sent only where the operator allows it.
 */
export const runSpans =
  (telemetry: Telemetry): WatchRun =>
  (run) => {
    const open = { agents: new Map(), chats: new Map(), tools: new Map() }
    const spans: OpenSpans = { run, telemetry, ...open }
    return {
      see(event) {
        switch (event.event) {
          case 'agent_started':
            return beginAgent(spans, event)
          case 'agent_completed':
            return endAgent(spans, event)
          case 'model_called':
            return beginChat(spans, event)
          case 'token':
            return collectText(spans, event)
          case 'model_answered':
            return endChat(spans, event)
          case 'tool_started':
            return beginTool(spans, event)
          case 'tool_completed':
            return endTool(spans, event)
        }
      },
      ended: ({ status, refusal }) =>
        endAll(spans, withoutError.has(status) ? undefined : (refusal?.code ?? status)),
    }
  }
