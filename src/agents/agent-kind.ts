import type { Observable } from 'rxjs'
import type { Clock } from '../ports/clock.ts'
import type { JsonSchemas } from '../ports/json-schemas.ts'
import type { Models } from '../ports/model.ts'
import type { AgentConfig } from './agent.ts'
import type { AgentAnswer, AgentEvent, AgentOutput } from './agent-event.ts'
import type { CallIds } from './call-ids.ts'
import type { Journal } from './journal.ts'
import type { RunBudget } from './run-budget.ts'
import type { Suspended } from './suspended.ts'
import type { Tool } from './tool.ts'
import type { AgentTurn } from './turn.ts'

/** One agent's place in a turn. */
export type AgentStep = {
  turn: AgentTurn
  stepId: string
  /** Its place in the run (`Journal`). */
  at: string
  journal: Journal
  /** 0 for the agent that the turn was given to. */
  depth: number
  parent: string | null
  /** What agents before this one said in this turn. */
  outputs: readonly AgentOutput[]
  budget: RunBudget
  callIds: CallIds
  /** Its answer is the turn's. */
  final: boolean
  /** Where it waited for the client in the turn before. */
  resume?: Suspended | undefined
  /** Set inside a loop. */
  exitLoop?: Tool | undefined
}

/** The last thing an agent's body gives; the runtime makes `agent_completed` of it. */
export type AnswerEvent = { event: 'answered'; answer: AgentAnswer }

/** A call of a model that failed, or ended without its end; the error follows. */
export type ModelFailed = {
  event: 'model_failed'
  at: string
  model: string
  duration_ms: number
}

export type BodyEvent = AgentEvent | AnswerEvent | ModelFailed

/** How one type of agent works: cold, ends with one `answered` or an error. */
export type AgentKind = (
  agent: AgentConfig,
  step: AgentStep,
  runtime: Runtime,
) => Observable<BodyEvent>

/** What the host gives. */
export type RuntimePorts = {
  models: Models
  clock: Clock
  /** The tools an agent may use in a turn: at once, unless its MCP servers list theirs. */
  toolsOf(agent: AgentConfig, turn: AgentTurn): Observable<readonly Tool[]>
  /** Why a text does not fit a JSON Schema. */
  textMisfitOf: JsonSchemas['textMisfitOf']
}

export type RunLimits = {
  /** Model calls of one agent in a turn; the last one is offered no tools. */
  rounds: number
  depth: number
  /** Of all agents of a run together; over them it ends with what was said. */
  modelCalls: number
  steps: number
  /** Tokens of history (estimated) that a model is shown. */
  context: number
  toolMs: number
  turnMs: number
}

export type Runtime = RuntimePorts & {
  limits: RunLimits
  /**
   * Runs an agent one level below: agent_started, its events, agent_completed. Nothing when the run
   * has no step left.
   */
  run(agent: AgentConfig, parent: AgentConfig, step: AgentStep): Observable<AgentEvent>
}
