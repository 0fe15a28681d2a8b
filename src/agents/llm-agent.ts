import { from, ignoreElements, Observable, type Subscriber } from 'rxjs'
import type { AnswerLimit } from '../domain/run-limits.ts'
import {
  type AnswerFormat,
  type ChatMessage,
  type FinishReason,
  type ModelEvent,
  ModelFault,
  ModelOutputInvalid,
  type ModelRequest,
  type ModelSettings,
  type ResolvedModel,
  type ToolCall,
  type ToolSpec,
} from '../ports/model.ts'
import { relayed } from '../support/relayed.ts'
import { stopwatch } from '../support/stopwatch.ts'
import { afterCalls } from './after-calls.ts'
import { type AgentConfig, AgentFault, ToolNameTaken } from './agent.ts'
import type { ModelAnswered, ModelCalled, TokenEvent } from './agent-event.ts'
import type { AgentKind, AgentStep, BodyEvent, Runtime } from './agent-kind.ts'
import { answerMisfit, correction, inFormat } from './answer-format.ts'
import { activeBelow, answerEvent, handedOver } from './hand-over.ts'
import { type RecordedAnswer, recordedFailure } from './journal.ts'
import { longestAnswer, settingsFor, shortened } from './model-settings.ts'
import { between, paragraphs } from './paragraphs.ts'
import { messagesFor } from './parts.ts'
import { promptOf } from './prompt.ts'
import { type Suspended, waited, withResults } from './suspended.ts'
import { piecesOfAll } from './tokens.ts'
import type { Tool } from './tool.ts'
import { transferSpec } from './transfer.ts'
import type { ClientTools } from './turn.ts'

/** Every model takes this as the most tokens of an answer; more may be refused by some. */
const shortAnswer = 4_096

const noOffer = {}
const noResults: ReadonlyMap<string, string> = new Map()

/** The tools that a model may call: the agent's own, its sub-agents, the client's. */
const offerOf = (
  tools: readonly Tool[],
  below: readonly AgentConfig[],
  client: ClientTools | undefined,
): Pick<ModelRequest, 'tools' | 'toolChoice' | 'parallelToolCalls'> => {
  const specs: ToolSpec[] = tools.map(({ spec }) => spec)
  if (below.length > 0) specs.push(transferSpec(below))
  if (!client) return specs.length === 0 ? noOffer : { tools: specs }
  const conflict = client.specs.find(({ name }) => specs.some((spec) => spec.name === name))
  if (conflict) throw new ToolNameTaken(conflict.name)
  specs.push(...client.specs)
  return {
    tools: specs,
    ...(client.choice === undefined ? {} : { toolChoice: client.choice }),
    ...(client.parallel === undefined ? {} : { parallelToolCalls: client.parallel }),
  }
}

/** A recorded answer, as the model would give it. */
function* recordedEvents(answer: RecordedAnswer): Generator<ModelEvent> {
  const { text, calls, finishReason, usage, model: name, price } = answer
  yield { type: 'text', text }
  for (const call of calls) yield { type: 'tool_call', call }
  yield { type: 'done', finishReason, usage, by: { name, price } }
}

/** An agent that talks with its model and tools, in rounds. */
type Conversation = {
  agent: AgentConfig
  step: AgentStep
  runtime: Runtime
  tools: readonly Tool[]
  /** Its sub-agents. */
  below: readonly AgentConfig[]
  resolved: ResolvedModel
  offer: ReturnType<typeof offerOf>
  settings: ModelSettings
  /** The most tokens of an answer. */
  longest: number
  format: AnswerFormat | undefined
  /** The messages of the first round. */
  opening: readonly ChatMessage[]
  resume: (Suspended & { kind: 'model' }) | undefined
  /** The agent's text of the turns before. */
  earlier: string
  requests: number
  corrected: boolean
}

type ModelDone = Extract<ModelEvent, { type: 'done' }>

/** One request to the model, the `n`th in its conversation. */
type Round = {
  n: number
  /** Its place in the run. */
  at: string
  /** The agent's text of the rounds before. */
  textSoFar: string
  messages: readonly ChatMessage[]
  recorded: RecordedAnswer | undefined
  /** The limit of the run for this answer, where it is less than the answer may be anyway. */
  limit: AnswerLimit | undefined
  text: string
  calls: ToolCall[]
  done: ModelDone | undefined
  /** Milliseconds since the model was called; undefined while it is not, and in a replay. */
  elapsed: (() => number) | undefined
  to: Subscriber<BodyEvent>
}

const conversationOf = (
  agent: AgentConfig,
  step: AgentStep,
  runtime: Runtime,
  tools: readonly Tool[],
): Conversation => {
  const { models, limits } = runtime
  const { turn } = step
  const resume = waited(step.resume, 'model')
  const resolved = models.resolve(agent.model)
  const below = step.depth < limits.depth ? activeBelow(agent, step) : []
  const settings = settingsFor(agent, turn.settings)
  const format = step.final ? turn.format : undefined
  const prompt = messagesFor(resolved.takes, promptOf(agent, step, limits.context))
  return {
    agent,
    step,
    runtime,
    tools,
    below,
    resolved,
    offer: offerOf(tools, below, turn.clientTools),
    settings,
    longest: longestAnswer(settings) ?? shortAnswer,
    format,
    opening: format ? inFormat(format, prompt) : prompt,
    resume,
    earlier: resume?.said ?? '',
    requests: 0,
    corrected: false,
  }
}

/** Ends the agent with its answer. */
const end = (
  { agent, earlier }: Conversation,
  text: string,
  finishReason: FinishReason,
  to: Subscriber<BodyEvent>,
): void => {
  to.next(answerEvent(agent, { text, finishReason }, [], earlier))
  to.complete()
}

/** Takes in one event of the model, and passes its text on. */
const hear = ({ agent, step }: Conversation, round: Round, event: ModelEvent): void => {
  if (event.type === 'tool_call') round.calls.push(event.call)
  else if (event.type === 'done') round.done = event
  else if (event.text !== '') {
    const before = round.text === '' && round.textSoFar !== '' ? between : ''
    round.text += event.text
    // An answer in a format is given whole, once it was checked.
    if (step.turn.format) return
    const token: TokenEvent = {
      event: 'token',
      agent: agent.name,
      step_id: step.stepId,
      text: before + event.text,
    }
    if (round.recorded) token.replayed = true
    round.to.next(token)
  }
}

/** Gives the answer once it fits its format; the model is asked for another one at most once. */
const checkFormat = (
  conversation: Conversation,
  round: Round,
  format: AnswerFormat,
  to: Subscriber<BodyEvent>,
): void => {
  const { runtime, step, resolved } = conversation
  const { n, text, messages } = round
  const checked = from(answerMisfit(runtime, step.turn, format, text))
  const next = (misfit: string | undefined): void => {
    if (misfit === undefined) {
      end(conversation, text, 'stop', to)
      return
    }
    if (conversation.corrected)
      throw new ModelOutputInvalid(`${resolved.name} did not answer in the format, twice`)
    conversation.corrected = true
    ask(conversation, n, '', [...messages, ...correction(format, text, misfit)], to)
  }
  relayed(checked, to, { next, complete: () => undefined })
}

/** Makes the calls of an answer, then asks again or leaves. `text` is the agent's text so far. */
const followCalls = (conversation: Conversation, round: Round, text: string): void => {
  const { agent, runtime, tools, below, opening, earlier, format, resume } = conversation
  const { n, to } = round
  const step = resume ? { ...conversation.step, resume: undefined } : conversation.step
  const talk = { agent, step, runtime, tools, below, opening: opening.length, earlier }
  const again = (messages: readonly ChatMessage[]) =>
    new Observable<BodyEvent>((next) => ask(conversation, n + 1, text, messages, next))
  const leave = () =>
    new Observable<BodyEvent>((next) =>
      format
        ? checkFormat(conversation, round, format, next)
        : end(conversation, text, 'stop', next),
    )
  relayed(afterCalls(talk, { ...round, fullText: text }, { again, leave }), to, to)
}

/** The complete answer of a round, as it is recorded. */
const modelAnswered = (
  { agent, step, resolved }: Conversation,
  round: Round,
  { finishReason, usage, by }: ModelDone,
): ModelAnswered => {
  const { recorded, limit, elapsed } = round
  const cutBy = recorded ? recorded.cutBy : finishReason === 'length' ? limit?.limit : undefined
  const event: ModelAnswered = {
    event: 'model_answered',
    step_id: step.stepId,
    at: round.at,
    agent: agent.name,
    model: by ? by.name : resolved.name,
    price: by ? by.price : resolved.price,
    usage,
    finish_reason: finishReason,
    text: round.text,
    calls: round.calls,
  }
  if (cutBy) event.cut_by = cutBy
  if (elapsed) event.duration_ms = elapsed()
  if (recorded) event.replayed = true
  return event
}

/** Ends a round: the agent ends too, makes the model's calls, or has its format checked. */
const endRound = (conversation: Conversation, round: Round, done: ModelDone): void => {
  const { step, runtime, format } = conversation
  const { n, textSoFar, recorded, to } = round
  const { budget, callIds } = step
  budget.answered()
  // No call of an answer that was cut off is known to be complete.
  if (done.finishReason === 'length' || done.finishReason === 'content_filter') round.calls = []
  if (recorded) callIds.keep(round.calls)
  else if (round.calls.length > 0) round.calls = callIds.distinct(round.calls, round.messages)
  const event = modelAnswered(conversation, round, done)
  to.next(event)
  const { finish_reason: finishReason, cut_by: cutBy } = event
  const fullText = format ? round.text : paragraphs(textSoFar, round.text)
  if (cutBy) {
    budget.cutOff(cutBy)
    end(conversation, fullText, finishReason, to)
    return
  }
  if (round.calls.length > 0 && n < runtime.limits.rounds) {
    followCalls(conversation, round, format ? '' : fullText)
    return
  }
  const reason = finishReason === 'tool_calls' ? 'stop' : finishReason
  if (format && reason === 'stop') checkFormat(conversation, round, format, to)
  else end(conversation, fullText, reason, to)
}

const modelCalled = ({ step, resolved }: Conversation, round: Round): ModelCalled => {
  const event: ModelCalled = {
    event: 'model_called',
    step_id: step.stepId,
    model: resolved.name,
    price: resolved.price,
    prompt_tokens: piecesOfAll(round.messages),
  }
  if (round.recorded) event.replayed = true
  return event
}

/** Calls the model, or replays its recorded answer. */
const callModel = (conversation: Conversation, round: Round, failure: string | undefined): void => {
  const { step, runtime, resolved, settings, offer, format } = conversation
  const { at, n, limit, messages, recorded, to } = round
  to.next(modelCalled(conversation, round))
  if (to.closed) return
  if (failure !== undefined) throw recordedFailure(failure)
  const request: ModelRequest = {
    model: resolved.id,
    messages,
    ...(limit ? shortened(settings, limit.tokens) : settings),
    ...(n === runtime.limits.rounds ? noOffer : offer),
  }
  if (format) request.format = format
  step.journal.asks?.(at, request)
  if (!recorded) round.elapsed = stopwatch(runtime.clock)
  const answer = recorded
    ? from(recordedEvents(recorded))
    : resolved.model.stream(request, step.turn.whole)
  const fail = (error: unknown): void => {
    const { elapsed } = round
    if (elapsed)
      to.next({ event: 'model_failed', at, model: resolved.name, duration_ms: elapsed() })
    to.error(error)
  }
  relayed(answer, to, {
    next: (event) => hear(conversation, round, event),
    error: fail,
    complete: () => {
      const { done } = round
      if (done) endRound(conversation, round, done)
      else fail(new ModelFault(`${resolved.name} ended without saying so`))
    },
  })
}

/** Begins the `n`th round, as far as the run's budget allows. */
const ask = (
  conversation: Conversation,
  n: number,
  textSoFar: string,
  messages: readonly ChatMessage[],
  to: Subscriber<BodyEvent>,
): void => {
  const { step, resolved, longest } = conversation
  const { journal, budget } = step
  const at = `${step.at}/${++conversation.requests}`
  const recorded = journal.answerAt(at)
  const failure = recorded ? undefined : journal.stepAt(step.at)?.error
  const { price } = resolved
  const granted = recorded
    ? { answer: undefined }
    : budget.takeCall(() => ({ promptTokens: piecesOfAll(messages), price }))
  if (!granted) {
    end(conversation, textSoFar, 'length', to)
    return
  }
  const limit = granted.answer && granted.answer.tokens < longest ? granted.answer : undefined
  const answer = { text: '', calls: [], done: undefined, elapsed: undefined }
  const round: Round = { n, at, textSoFar, messages, recorded, limit, ...answer, to }
  const call = () => callModel(conversation, round, failure)
  const saving = recorded ? undefined : journal.saved()
  const ready = saving ? from(saving).pipe(ignoreElements()) : budget.pause()
  if (ready) relayed(ready, to, { next: () => undefined, complete: call })
  else call()
}

/** Calls the model and its tools in turn until it answers without a call or hands over. */
const converse = (conversation: Conversation, to: Subscriber<BodyEvent>): void => {
  const { opening, resume, step } = conversation
  const results = step.turn.resume?.results ?? noResults
  const messages = resume ? [...opening, ...withResults(resume, results)] : opening
  ask(conversation, 1, '', messages, to)
}

/** One model with its tools; it may hand the turn to one of its sub-agents. */
export const llmAgent: AgentKind = (agent, step, runtime) =>
  new Observable((subscriber) => {
    const { turn, depth, exitLoop, resume } = step
    if (resume?.kind === 'transfer') {
      const to = turn.agents.get(resume.below.agentId)
      if (!to?.isActive) throw new AgentFault('an agent is gone that waited for the client')
      const { below, said: earlier } = resume
      const events = handedOver(agent, to, '', step, runtime, { below, earlier })
      relayed(events, subscriber, subscriber)
      return
    }
    if (turn.target && depth === 0 && !resume) {
      relayed(handedOver(agent, turn.target, '', step, runtime), subscriber, subscriber)
      return
    }
    relayed(runtime.toolsOf(agent, turn), subscriber, {
      next(tools) {
        const all = exitLoop ? [...tools, exitLoop] : tools
        converse(conversationOf(agent, step, runtime, all), subscriber)
      },
      complete: () => undefined,
    })
  })
