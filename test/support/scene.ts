import { lastValueFrom, Observable, toArray } from 'rxjs'
import type { AgentConfig } from '../../src/agents/agent.ts'
import type { AgentEvent, TurnDone } from '../../src/agents/agent-event.ts'
import type { RunLimits } from '../../src/agents/agent-kind.ts'
import { agentRuntime } from '../../src/agents/agent-runtime.ts'
import type { Tool } from '../../src/agents/tool.ts'
import type { AgentTurn } from '../../src/agents/turn.ts'
import type { ModelEvent, ModelRequest } from '../../src/ports/model.ts'
import { agentNamed, byId, hostOf, type Script, scripted, turnOf } from './agents.ts'

const done: ModelEvent = {
  type: 'done',
  finishReason: 'stop',
  usage: { promptTokens: 10, completionTokens: 2 },
}
export const says = (...words: string[]): ModelEvent[] => [
  ...words.map((text) => ({ type: 'text' as const, text })),
  done,
]
export const calls = (...named: [name: string, args: string][]): ModelEvent[] => [
  ...named.map(([name, args], n) => ({
    type: 'tool_call' as const,
    call: { id: `c${n}`, name, arguments: args },
  })),
  { ...done, finishReason: 'tool_calls' },
]

/** The agent that a request is made for, by the name in its instruction. */
export const speaker = ({ messages }: ModelRequest) =>
  /You are (\w+)/.exec(messages[0]?.content ?? '')?.[1]

type Scene = {
  agents: AgentConfig[]
  script: Script
  tools?: readonly Tool[]
  limits?: Partial<RunLimits>
}

/** Runs turns of the first agent. */
export const stageScene = ({ agents, script, tools = [], limits = {} }: Scene) => {
  const requests: ModelRequest[] = []
  const models = scripted((request) => {
    requests.push(request)
    return script(request)
  })
  const run = agentRuntime({ ...hostOf({ tools, models }), limits })
  const [first = agentNamed('Nobody')] = agents
  const events = (message = 'Hi', more: Partial<AgentTurn> = {}) =>
    run(turnOf(first, message, { agents: byId(agents), ...more }))
  return {
    requests,
    events,
    all: (message?: string, more?: Partial<AgentTurn>) =>
      lastValueFrom(events(message, more).pipe(toArray())),
  }
}

export const endOf = (events: readonly AgentEvent[]): TurnDone => {
  const last = events.at(-1)
  if (last?.event !== 'done') throw new Error('the turn did not end with done')
  return last
}
export const tokensOf = (events: readonly AgentEvent[]) =>
  events.map((event) => (event.event === 'token' ? event.text : '')).join('')
export const outline = (events: readonly AgentEvent[]) =>
  events.map((event) =>
    'agent' in event && event.event !== 'model_answered'
      ? `${event.event} ${event.agent}`
      : event.event,
  )

/** A word at a time, in turn with all others that do the same. */
export const inTurn = (...words: string[]) =>
  new Observable<ModelEvent>((subscriber) => {
    let stopped = false
    const next = (n: number) => {
      if (stopped) return
      const text = words[n]
      if (text === undefined) {
        subscriber.next(done)
        subscriber.complete()
        return
      }
      subscriber.next({ type: 'text', text })
      setImmediate(next, n + 1)
    }
    setImmediate(next, 0)
    return () => {
      stopped = true
    }
  })
