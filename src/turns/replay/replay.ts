import { lastValueFrom, map, type Observable, of, takeUntil, tap } from 'rxjs'
import type { AgentEvent } from '../../agents/agent-event.ts'
import type { RuntimePorts } from '../../agents/agent-kind.ts'
import { agentRuntime } from '../../agents/agent-runtime.ts'
import { type Journal, nothingUsed, type RecordedAnswer } from '../../agents/journal.ts'
import { errorPrefix, type Tool } from '../../agents/tool.ts'
import type { AgentTurn } from '../../agents/turn.ts'
import type { ContentKind, ModelEvent, ModelRequest, Models } from '../../ports/model.ts'
import { digestOf } from '../record/arguments-digest.ts'
import { hasParts, readied } from '../run/message-parts.ts'

/** What a model was asked and answered at one place of a run. */
export type ModelPlace = {
  kind: 'model'
  /** As the agent names it. */
  model: string
  /** The system messages: the agent's instruction first. */
  system: string
  /** Names of the tools that were offered. */
  tools: readonly string[]
  /** All other messages, and how the model is to answer, as JSON. */
  messages: string
  settings: string
  answer: string
  calls: readonly { name: string; arguments: string }[]
  /** False: no answer is recorded for this place, and no model was asked. */
  answered: boolean
}

/** What a tool was called with and gave. */
export type ToolPlace = { kind: 'tool'; tool: string; arguments: string; result: string }

export type Place = { agent: string } & (ModelPlace | ToolPlace)

/** A replayed run. */
export type Replay = {
  places: ReadonlyMap<string, Place>
  answer: string
  /** The name of the error that it failed with. */
  error?: string
}

/** A tool's call that is recorded, with its result where there is one. */
export type RecordedCall = {
  tool: string
  arguments: string
  result?: { ok: boolean; content: string }
}

type Uses = Pick<RuntimePorts, 'clock' | 'textMisfitOf' | 'toolsOf'> & {
  /** Undefined: no model is asked. */
  models: Models | undefined
  answerAt: Journal['answerAt']
  calls: readonly RecordedCall[]
  limits: { modelCalls: number; steps: number }
  disconnect: Observable<unknown>
}

const free = { prompt: 0, completion: 0 }
const allKinds: ReadonlySet<ContentKind> = new Set(['image', 'audio', 'file'])

const silence: ModelEvent = {
  type: 'done',
  finishReason: 'stop',
  usage: { promptTokens: 0, completionTokens: 0 },
}

/** Asks nobody: an answer that is not recorded is empty. */
const silentModels: Models = {
  resolve: (name) => ({
    model: { stream: () => of(silence) },
    name: name ?? 'default',
    id: name ?? 'default',
    price: free,
    takes: allKinds,
  }),
}

/** By the names that agents have for their models. */
const named = (models: Models): Models => ({
  resolve(name) {
    const { model, id, ...details } = models.resolve(name)
    return {
      ...details,
      id: name ?? 'default',
      model: { stream: (request) => model.stream({ ...request, model: id }) },
    }
  },
})

const notRecorded = { ok: false, content: 'no such call is recorded, and none was made' }

/**
 * Results of recorded calls by tool and arguments; of equal calls in their order, the last one
 * again.
 */
const resultsOf = (calls: readonly RecordedCall[]) => {
  const results = new Map<string, { ok: boolean; content: string }[]>()
  const keyOf = (tool: string, args: string) => `${tool} ${digestOf(args)}`
  for (const { tool, arguments: args, result } of calls) {
    if (!result) continue
    const key = keyOf(tool, args)
    results.set(key, [...(results.get(key) ?? []), result])
  }
  return (tool: string, args: string) => {
    const left = results.get(keyOf(tool, args)) ?? []
    return left.length > 1 ? left.shift() : left[0]
  }
}

/** The text of a failure already begins with the prefix. */
const bare = (content: string): string =>
  content.startsWith(errorPrefix) ? content.slice(errorPrefix.length) : content

/** The same tools, none of which is called: each gives what is recorded. */
const standIns = (tools: readonly Tool[], resultFor: ReturnType<typeof resultsOf>): Tool[] =>
  tools.map(({ spec }) => ({
    spec,
    run: (args) => {
      const result = resultFor(spec.name, JSON.stringify(args)) ?? notRecorded
      return of(result.ok ? result : { ok: false, content: bare(result.content) })
    },
  }))

const textsOf = ({ messages }: ModelRequest, isSystem: boolean) =>
  messages.filter(({ role }) => (role === 'system') === isSystem)

const modelPlace = (agent: string, request: ModelRequest): Place & ModelPlace => {
  const { model, messages: _, tools = [], ...settings } = request
  return {
    kind: 'model',
    agent,
    model,
    system: textsOf(request, true)
      .map(({ content }) => content)
      .join('\n\n'),
    tools: tools.map(({ name }) => name),
    messages: JSON.stringify(textsOf(request, false)),
    settings: JSON.stringify(settings),
    answer: '',
    calls: [],
    answered: false,
  }
}

/**
 * Replays a turn from its records by the code that runs turns: tools give their recorded
 * results, models their recorded answers unless they are asked. It stores nothing, charges nothing
 * and calls no tool.
 */
export const replayTurn = async (turn: AgentTurn, uses: Uses): Promise<Replay> => {
  const places = new Map<string, Place>()
  const agents = new Map<string, string>()
  const resultFor = resultsOf(uses.calls)
  const live = uses.models !== undefined
  let answer = ''

  const agentAt = (at: string): string => agents.get(at.slice(0, at.indexOf('/'))) ?? ''

  const journal: Journal = {
    stepAt: () => undefined,
    answerAt: (at): RecordedAnswer | undefined => (live ? undefined : uses.answerAt(at)),
    toolAt: () => undefined,
    isRouted: () => false,
    approvalAt: () => undefined,
    used: nothingUsed,
    saved: () => undefined,
    asks: (at, request) => places.set(at, modelPlace(agentAt(at), request)),
  }

  const see = (event: AgentEvent): void => {
    if (event.event === 'agent_started') agents.set(event.at, event.agent)
    else if (event.event === 'model_answered') {
      const place = places.get(event.at)
      if (place?.kind !== 'model') return
      const calls = event.calls.map(({ name, arguments: args }) => ({ name, arguments: args }))
      const isAnswered = live || uses.answerAt(event.at) !== undefined
      Object.assign(place, { answer: event.text, calls, answered: isAnswered })
    } else if (event.event === 'tool_started') {
      const { at, agent_name: agent, tool_name: tool } = event
      places.set(at, { kind: 'tool', agent, tool, arguments: event.arguments, result: '' })
    } else if (event.event === 'tool_completed') {
      const place = places.get(event.at)
      if (place?.kind === 'tool') Object.assign(place, { result: event.content })
    } else if (event.event === 'done') answer = event.text
  }

  const run = agentRuntime({
    models: uses.models ? named(uses.models) : silentModels,
    clock: uses.clock,
    textMisfitOf: uses.textMisfitOf,
    limits: uses.limits,
    toolsOf: (agent, agentTurn) =>
      uses.toolsOf(agent, agentTurn).pipe(map((tools) => standIns(tools, resultFor))),
  })
  try {
    const readyTurn = hasParts(turn) ? await readied(turn) : turn
    const events = run({ ...readyTurn, journal }).pipe(tap(see), takeUntil(uses.disconnect))
    await lastValueFrom(events, { defaultValue: undefined })
    return { places, answer }
  } catch (error) {
    return { places, answer, error: error instanceof Error ? error.name : 'Error' }
  }
}
