import type { AgentEvent } from '../../agents/agent-event.ts'
import type { Attributes, Span, Telemetry } from '../../ports/telemetry.ts'
import type { WatchRun } from './watch-run.ts'

type Open = { span: Span; text: string }

/** Ends of an attempt that are no failures. */
const fine: ReadonlySet<string> = new Set(['done', 'paused', 'handed_over'])

const providerOf = (model: string): string => model.slice(0, Math.max(0, model.indexOf('/')))

/**
 * A run as spans of OpenTelemetry's GenAI conventions: `invoke_agent` for each agent, below it
 * `chat` and `execute_tool`. Texts are sent only where the operator allows it.
 */
export const runSpans =
  ({ begin, texts }: Telemetry): WatchRun =>
  ({ runId, sessionId, call, message }) => {
    /** Agents by step, in the order they began. */
    const agents = new Map<string, Open & { name: string; depth: number }>()
    const chats = new Map<string, Open & { promptTokens: number }>()
    const tools = new Map<string, Span>()

    const parentOf = (name: string | null) =>
      [...agents.values()].findLast((one) => one.name === name)?.span.context ?? call.trace

    const text = (name: string, role: string, content: string): Attributes =>
      texts ? { [name]: JSON.stringify([{ role, parts: [{ type: 'text', content }] }]) } : {}

    type Named = { tool_id: string; tool_name: string; agent_name: string }
    const toolSpan = ({ tool_id, tool_name, agent_name }: Named, more: Attributes = {}): Span => {
      const attributes = {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': tool_name,
        'gen_ai.tool.call.id': tool_id,
        'gen_ai.tool.type': 'function',
        ...more,
      }
      return begin(`execute_tool ${tool_name}`, { parent: parentOf(agent_name), attributes })
    }

    const see = (event: AgentEvent): void => {
      switch (event.event) {
        case 'agent_started': {
          const { agent: name, agent_id, agent_type, depth, parent_agent, step_id } = event
          const attributes = {
            'gen_ai.operation.name': 'invoke_agent',
            'gen_ai.agent.name': name,
            'gen_ai.agent.id': agent_id,
            'gen_ai.conversation.id': sessionId,
            'reprise.agent_type': agent_type,
            'reprise.run_id': runId,
            ...(depth === 0 || parent_agent === null
              ? text('gen_ai.input.messages', 'user', message)
              : {}),
          }
          const parent = parentOf(parent_agent)
          const span = begin(`invoke_agent ${name}`, { parent, attributes })
          agents.set(step_id, { span, name, depth, text: '' })
          return
        }
        case 'agent_completed': {
          const { step_id, usage, answer, error } = event
          agents.get(step_id)?.span.end(
            {
              'gen_ai.usage.input_tokens': usage.promptTokens,
              'gen_ai.usage.output_tokens': usage.completionTokens,
              ...(answer ? text('gen_ai.output.messages', 'assistant', answer.text) : {}),
            },
            error,
          )
          agents.delete(step_id)
          return
        }
        case 'model_called': {
          const { step_id, model, prompt_tokens: promptTokens } = event
          const attributes = {
            'gen_ai.operation.name': 'chat',
            'gen_ai.provider.name': providerOf(model),
            'gen_ai.request.model': model,
            'gen_ai.conversation.id': sessionId,
          }
          const parent = agents.get(step_id)?.span.context ?? call.trace
          const span = begin(`chat ${model}`, { kind: 'client', parent, attributes })
          chats.set(step_id, { span, promptTokens, text: '' })
          return
        }
        case 'token': {
          const chat = texts ? chats.get(event.step_id) : undefined
          if (chat) chat.text += event.text
          return
        }
        case 'model_answered': {
          const { step_id, model, usage, price } = event
          const { promptTokens, completionTokens } = usage
          const charge = Math.ceil(
            promptTokens * price.prompt + completionTokens * price.completion,
          )
          const chat = chats.get(step_id)
          chat?.span.end({
            'gen_ai.response.model': model,
            'gen_ai.usage.input_tokens': promptTokens,
            'gen_ai.usage.output_tokens': completionTokens,
            'reprise.charge_credits': charge / 1e6,
            ...text('gen_ai.output.messages', 'assistant', chat.text),
          })
          chats.delete(step_id)
          return
        }
        case 'tool_started': {
          const said = texts ? { 'gen_ai.tool.call.arguments': event.arguments } : {}
          tools.set(event.tool_id, toolSpan(event, said))
          return
        }
        case 'tool_completed': {
          const { tool_id, ok } = event
          // One that began in another attempt has its span here.
          const span = tools.get(tool_id) ?? toolSpan(event)
          span.end({}, ok ? undefined : 'tool_failed')
          tools.delete(tool_id)
          return
        }
      }
    }

    return {
      see,
      ended({ ended, refusal }) {
        const why = fine.has(ended) ? undefined : (refusal?.code ?? ended)
        for (const span of tools.values()) span.end({}, why)
        for (const { span } of chats.values()) span.end({}, why)
        for (const { span } of [...agents.values()].reverse()) span.end({}, why)
      },
    }
  }
