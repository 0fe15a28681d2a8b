import { from, ignoreElements, Observable, type Subscriber } from 'rxjs'
import {
  type AnswerFormat,
  type ChatMessage,
  type FinishReason,
  type ModelEvent,
  ModelFault,
  ModelOutputInvalid,
  type ModelRequest,
  type ToolCall,
  type ToolSpec,
} from '../ports/model.ts'
import { relayed } from '../support/relayed.ts'
import { afterCalls } from './after-calls.ts'
import { type AgentConfig, AgentFault, ToolNameTaken } from './agent.ts'
import type { ModelAnswered, ModelCalled, TokenEvent } from './agent-event.ts'
import type { AgentKind, AgentStep, BodyEvent, Runtime } from './agent-kind.ts'
import { answerMisfit, correction, inFormat } from './answer-format.ts'
import { activeBelow, answered, handedOver } from './hand-over.ts'
import { type RecordedAnswer, recordedFailure } from './journal.ts'
import { longestAnswer, settingsFor, shortened } from './model-settings.ts'
import { between, paragraphs } from './paragraphs.ts'
import { shownTo } from './parts.ts'
import { promptOf } from './prompt.ts'
import { answeredCalls, waited } from './suspended.ts'
import { piecesOfAll } from './tokens.ts'
import type { Tool } from './tool.ts'
import { transferSpec } from './transfer.ts'
import type { ClientTools } from './turn.ts'

type Told = Extract<ModelEvent, { type: 'done' }>

/** Every model takes this as the most tokens of an answer; more may be refused by some. */
const shortAnswer = 4_096

const noOffer = {}
const noResults: ReadonlyMap<string, string> = new Map()

/** What is offered to a model: the agent's own tools, its sub-agents, the client's tools. */
const offerOf = (
  tools: readonly Tool[],
  below: readonly AgentConfig[],
  client: ClientTools | undefined,
): Pick<ModelRequest, 'tools' | 'toolChoice' | 'parallelToolCalls'> => {
  const specs: ToolSpec[] = tools.map(({ spec }) => spec)
  if (below.length > 0) specs.push(transferSpec(below))
  if (!client) return specs.length === 0 ? noOffer : { tools: specs }
  const taken = client.specs.find(({ name }) => specs.some((spec) => spec.name === name))
  if (taken) throw new ToolNameTaken(taken.name)
  specs.push(...client.specs)
  return {
    tools: specs,
    ...(client.choice === undefined ? {} : { toolChoice: client.choice }),
    ...(client.parallel === undefined ? {} : { parallelToolCalls: client.parallel }),
  }
}

/** A recorded answer, as the model would give it. */
function* toldAgain(answer: RecordedAnswer): Generator<ModelEvent> {
  const { text, calls, finishReason, usage, model: name, price } = answer
  yield { type: 'text', text }
  for (const call of calls) yield { type: 'tool_call', call }
  yield { type: 'done', finishReason, usage, by: { name, price } }
}

/** Calls the model and its tools in turn until it answers without a call or hands over. */
const converse = (
  agent: AgentConfig,
  step: AgentStep,
  runtime: Runtime,
  tools: readonly Tool[],
  to: Subscriber<BodyEvent>,
): void => {
  const { models, limits } = runtime
  const { turn, stepId, budget, journal, callIds } = step
  const resume = waited(step.resume, 'model')
  const earlier = resume?.said ?? ''
  const { model, name, id, price, takes } = models.resolve(agent.model)
  const below = step.depth < limits.depth ? activeBelow(agent, step) : []
  const offer = offerOf(tools, below, turn.clientTools)
  const settings = settingsFor(agent, turn.settings)
  const longest = longestAnswer(settings) ?? shortAnswer

  const format = step.final ? turn.format : undefined
  const prompt = shownTo(takes, promptOf(agent, step, limits.context))
  const opening = format ? inFormat(format, prompt) : prompt
  let corrected = false
  let asked = 0

  /** Asks the model for the `n`th time, when so much was `said`. */
  const ask = (
    n: number,
    said: string,
    messages: readonly ChatMessage[],
    subscriber: Subscriber<BodyEvent>,
  ): void => {
    const at = `${step.at}/${++asked}`
    const recorded = journal.answerAt(at)
    const failure = recorded ? undefined : journal.stepAt(step.at)?.error
    const granted = recorded
      ? { answer: undefined }
      : budget.takeCall(() => ({ promptTokens: piecesOfAll(messages), price }))

    const end = (text: string, finishReason: FinishReason, to = subscriber): void => {
      to.next(answered(agent, { text, finishReason }, [], earlier))
      to.complete()
    }
    if (!granted) {
      end(said, 'length')
      return
    }
    /** How long the run lets this answer be, where that is less than it may be anyway. */
    const most = granted.answer && granted.answer.tokens < longest ? granted.answer : undefined
    let text = ''
    let told: Told | undefined
    let calls: ToolCall[] = []
    const last = n === limits.rounds

    const heard = (event: ModelEvent): void => {
      if (event.type === 'tool_call') calls.push(event.call)
      else if (event.type === 'done') told = event
      else if (event.text !== '') {
        const before = text === '' && said !== '' ? between : ''
        text += event.text
        // An answer in a format is given whole, once it was checked.
        if (turn.format) return
        const token: TokenEvent = {
          event: 'token',
          agent: agent.name,
          step_id: stepId,
          text: before + event.text,
        }
        if (recorded) token.replayed = true
        subscriber.next(token)
      }
    }

    /** Gives the answer once it fits its format; it is asked for again at most once. */
    const check = (asked: AnswerFormat, to = subscriber): void => {
      const checked = from(answerMisfit(runtime, turn, asked, text))
      const next = (misfit: string | undefined): void => {
        if (misfit === undefined) {
          end(text, 'stop', to)
          return
        }
        if (corrected) throw new ModelOutputInvalid(`${name} did not answer in the format, twice`)
        corrected = true
        ask(n, '', [...messages, ...correction(asked, text, misfit)], to)
      }
      relayed(checked, to, { next, complete: () => undefined })
    }

    const goOn = (whole: string): void => {
      const place = resume ? { ...step, resume: undefined } : step
      const talk = { agent, step: place, runtime, tools, below, opening: opening.length, earlier }
      const again = (next: readonly ChatMessage[]) =>
        new Observable<BodyEvent>((one) => ask(n + 1, whole, next, one))
      const leave = () =>
        new Observable<BodyEvent>((one) => (format ? check(format, one) : end(whole, 'stop', one)))
      const events = afterCalls(talk, { at, text, whole, calls, messages }, { again, leave })
      relayed(events, subscriber, subscriber)
    }

    const ended = (): void => {
      budget.answered()
      if (!told) throw new ModelFault(`${name} ended without saying so`)
      const { finishReason, usage, by } = told
      // No call of an answer that was cut off is known to be complete.
      if (finishReason === 'length' || finishReason === 'content_filter') calls = []
      if (recorded) callIds.keep(calls)
      else if (calls.length > 0) calls = callIds.distinct(calls, messages)
      const cutOff = finishReason === 'length' ? most?.limit : undefined
      const cutBy = recorded ? recorded.cutBy : cutOff
      const event: ModelAnswered = {
        event: 'model_answered',
        step_id: stepId,
        at,
        agent: agent.name,
        model: by ? by.name : name,
        price: by ? by.price : price,
        usage,
        finish_reason: finishReason,
        text,
        calls,
      }
      if (cutBy) event.cut_by = cutBy
      if (recorded) event.replayed = true
      subscriber.next(event)
      const whole = format ? text : paragraphs(said, text)
      if (cutBy) {
        budget.cutOff(cutBy)
        end(whole, finishReason)
      } else if (calls.length > 0 && !last) goOn(format ? '' : whole)
      else {
        const reason = finishReason === 'tool_calls' ? 'stop' : finishReason
        if (format && reason === 'stop') check(format)
        else end(whole, reason)
      }
    }

    const call = (): void => {
      const event: ModelCalled = {
        event: 'model_called',
        step_id: stepId,
        model: name,
        price,
        prompt_tokens: piecesOfAll(messages),
      }
      if (recorded) event.replayed = true
      subscriber.next(event)
      if (subscriber.closed) return
      if (failure !== undefined) throw recordedFailure(failure)
      const asked = most ? shortened(settings, most.tokens) : settings
      const request: ModelRequest = { model: id, messages, ...asked, ...(last ? noOffer : offer) }
      if (format) request.format = format
      journal.asks?.(at, request)
      const answer = recorded ? from(toldAgain(recorded)) : model.stream(request, turn.whole)
      relayed(answer, subscriber, { next: heard, complete: ended })
    }

    const saving = recorded ? undefined : journal.saved()
    const ready = saving ? from(saving).pipe(ignoreElements()) : budget.pause()
    if (ready) relayed(ready, subscriber, { next: () => undefined, complete: call })
    else call()
  }

  const results = turn.resume?.results ?? noResults
  ask(1, '', resume ? [...opening, ...answeredCalls(resume, results)] : opening, to)
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
    const own = runtime.toolsOf(agent, turn)
    const go = (tools: readonly Tool[]) =>
      converse(agent, step, runtime, exitLoop ? [...tools, exitLoop] : tools, subscriber)
    if (own instanceof Promise)
      relayed(from(own), subscriber, { next: go, complete: () => undefined })
    else go(own)
  })
