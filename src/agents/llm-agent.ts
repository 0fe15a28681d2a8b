import { concat, defer, from, ignoreElements, Observable, of, switchMap } from 'rxjs'
import {
  type AnswerFormat,
  type ChatMessage,
  type ModelEvent,
  ModelFault,
  ModelOutputInvalid,
  type ToolCall,
  type ToolSpec,
} from '../ports/model.ts'
import { relayed } from '../support/relayed.ts'
import { type AgentConfig, AgentFault, ToolNameTaken } from './agent.ts'
import type { AgentKind, AgentStep, BodyEvent, Runtime } from './agent-kind.ts'
import { answerMisfit, correction, inFormat } from './answer-format.ts'
import { callTools } from './call-tools.ts'
import { activeBelow, answered, handedOver } from './hand-over.ts'
import { type RecordedAnswer, recordedFailure } from './journal.ts'
import { longestAnswer, settingsFor, shortened } from './model-settings.ts'
import { between, paragraphs } from './paragraphs.ts'
import { shownTo } from './parts.ts'
import { promptOf } from './prompt.ts'
import { answeredCalls, type Suspended, waited } from './suspended.ts'
import { piecesOfAll } from './tokens.ts'
import { errorPrefix, type Tool, type ToolResult } from './tool.ts'
import { chosen, transferName, transferSpec } from './transfer.ts'
import type { ClientTools } from './turn.ts'

type Told = Extract<ModelEvent, { type: 'done' }>

/** Every model takes this as the most tokens of an answer; more may be refused by some. */
const shortAnswer = 4_096

/** What the model is told when a call of `transfer_to_agent` names no agent that it may. */
const notTransferred = { ok: false, content: `${errorPrefix}there is no such agent` }

/** What it is told of a call of `transfer_to_agent` beside one of the client's tools. */
const notYetTransferred = {
  ok: false,
  content: `${errorPrefix}the other calls are answered first; call it again if it is still needed`,
}

const resultsAsMessages = (
  calls: readonly ToolCall[],
  results: readonly ToolResult[],
  otherwise = notTransferred,
) =>
  calls.map(
    ({ id, name }, n): ChatMessage => ({
      role: 'tool',
      toolCallId: id,
      name,
      content: (results[n] ?? otherwise).content,
    }),
  )

/** What is offered to a model: the agent's own tools, its sub-agents, the client's tools. */
const offerOf = (
  tools: readonly Tool[],
  below: readonly AgentConfig[],
  client: ClientTools | undefined,
) => {
  const specs: ToolSpec[] = tools.map(({ spec }) => spec)
  if (below.length > 0) specs.push(transferSpec(below))
  if (!client) return specs.length === 0 ? {} : { tools: specs }
  const taken = client.specs.find(({ name }) => specs.some((spec) => spec.name === name))
  if (taken) throw new ToolNameTaken(taken.name)
  specs.push(...client.specs)
  return {
    tools: specs,
    ...(client.choice === undefined ? {} : { toolChoice: client.choice }),
    ...(client.parallel === undefined ? {} : { parallelToolCalls: client.parallel }),
  }
}

const isClients = ({ name }: ToolCall, { specs }: ClientTools): boolean =>
  specs.some((spec) => spec.name === name)

/** A recorded answer, as the model would give it. */
function* toldAgain(answer: RecordedAnswer): Generator<ModelEvent> {
  const { text, calls, finishReason, usage, model: name, price } = answer
  yield { type: 'text', text }
  for (const call of calls) yield { type: 'tool_call', call }
  yield { type: 'done', finishReason, usage, by: { name, price } }
}

/** Calls the model and its tools in turn until it answers without a call or hands over. */
const conversation = (
  agent: AgentConfig,
  step: AgentStep,
  runtime: Runtime,
  tools: readonly Tool[],
): Observable<BodyEvent> => {
  const { models, limits } = runtime
  const { turn, stepId, budget, journal } = step
  const { clientTools } = turn
  const resume = waited(step.resume, 'model')
  const earlier = resume?.said ?? ''
  const place = resume ? { ...step, resume: undefined } : step
  const { model, name, id, price, takes } = models.resolve(agent.model)
  const below = step.depth < limits.depth ? activeBelow(agent, step) : []
  const offer = offerOf(tools, below, clientTools)
  const settings = { model: id, ...settingsFor(agent, turn.settings) }
  const longest = longestAnswer(settings) ?? shortAnswer

  const format = step.final ? turn.format : undefined
  const prompt = shownTo(takes, promptOf(agent, step, limits.context))
  const opening = format ? inFormat(format, prompt) : prompt
  let corrected = false
  let asked = 0

  const round = (
    n: number,
    said: string,
    messages: readonly ChatMessage[],
  ): Observable<BodyEvent> =>
    new Observable((subscriber) => {
      const at = `${step.at}/${++asked}`
      const recorded = journal.answerAt(at)
      const failure = recorded ? undefined : journal.stepAt(step.at)?.error
      const granted = recorded
        ? { answer: undefined }
        : budget.takeCall(() => ({ promptTokens: piecesOfAll(messages), price }))
      if (!granted) {
        subscriber.next(answered(agent, { text: said, finishReason: 'length' }, [], earlier))
        subscriber.complete()
        return
      }
      /** How long the run lets this answer be, where that is less than it may be anyway. */
      const most = granted.answer && granted.answer.tokens < longest ? granted.answer : undefined
      let text = ''
      let told: Told | undefined
      let before = said === '' ? '' : between
      const calls: ToolCall[] = []
      const last = n === limits.rounds
      const offered = last ? {} : offer
      const replayed = recorded ? { replayed: true as const } : {}

      const heard = (event: ModelEvent): void => {
        if (event.type === 'tool_call') calls.push(event.call)
        else if (event.type === 'done') told = event
        else if (event.text !== '') {
          text += event.text
          // An answer in a format is given whole, once it was checked.
          if (turn.format) return
          const token = before + event.text
          before = ''
          subscriber.next({
            event: 'token',
            agent: agent.name,
            step_id: stepId,
            text: token,
            ...replayed,
          })
        }
      }

      const afterCalls = (whole: string): Observable<BodyEvent> => {
        const transfer = calls.find((call) => call.name === transferName)
        const target = transfer && chosen(transfer, below)
        const results: ToolResult[] = []
        const clients = clientTools ? calls.filter((call) => isClients(call, clientTools)) : []
        const own = calls.filter((call) => call.name !== transferName && !clients.includes(call))
        const placeOf = (call: ToolCall) => `${at}/${calls.indexOf(call)}`
        const { clock } = runtime
        const uses = { agent, turn, tools, toolMs: limits.toolMs, budget, journal, clock, placeOf }
        return concat(
          callTools(own, uses, results),
          defer(() => {
            const waits = clients.length > 0
            if (target && !waits)
              return handedOver(agent, target, whole, place, runtime, { earlier })
            const asked: ChatMessage = { role: 'assistant', content: text, toolCalls: calls }
            const failed = calls.filter((call) => call.name === transferName)
            if (clientTools && waits) {
              const others = resultsAsMessages([...own, ...failed], results, notYetTransferred)
              const suspended: Suspended = {
                kind: 'model',
                agentId: agent.agentId,
                said: paragraphs(earlier, whole),
                messages: [...messages.slice(opening.length), asked, ...others],
                open: clients.map((call) => ({
                  id: clientTools.callId(),
                  at: calls.indexOf(call),
                })),
              }
              const answer = { text: whole, finishReason: 'tool_calls', suspended } as const
              return of(answered(agent, answer, [], earlier))
            }
            const told = resultsAsMessages([...own, ...failed], results)
            return round(n + 1, whole, [...messages, asked, ...told])
          }),
        )
      }

      /** The answer once it fits its format; it is asked for again at most once. */
      const checked = (asked: AnswerFormat, answer: Observable<BodyEvent>) =>
        from(answerMisfit(runtime, turn, asked, text)).pipe(
          switchMap((misfit) => {
            if (misfit === undefined) return answer
            if (corrected)
              throw new ModelOutputInvalid(`${name} did not answer in the format, twice`)
            corrected = true
            return round(n, '', [...messages, ...correction(asked, text, misfit)])
          }),
        )

      const ended = (): void => {
        budget.answered()
        if (!told) throw new ModelFault(`${name} ended without saying so`)
        const { finishReason, usage, by = { name, price } } = told
        const whole = format ? text : paragraphs(said, text)
        const cutBy = recorded
          ? recorded.cutBy
          : finishReason === 'length'
            ? most?.limit
            : undefined
        subscriber.next({
          event: 'model_answered',
          step_id: stepId,
          at,
          agent: agent.name,
          model: by.name,
          price: by.price,
          usage,
          finish_reason: finishReason,
          text,
          calls,
          ...(cutBy ? { cut_by: cutBy } : {}),
          ...replayed,
        })
        if (cutBy) {
          budget.cutOff(cutBy)
          subscriber.next(answered(agent, { text: whole, finishReason }, [], earlier))
          subscriber.complete()
          return
        }
        if (last || calls.length === 0) {
          const reason = finishReason === 'tool_calls' ? 'stop' : finishReason
          const answer = of(answered(agent, { text: whole, finishReason: reason }, [], earlier))
          relayed(
            format && reason === 'stop' ? checked(format, answer) : answer,
            subscriber,
            subscriber,
          )
        } else relayed(afterCalls(format ? '' : whole), subscriber, subscriber)
      }

      const ask = (): void => {
        subscriber.next({
          event: 'model_called',
          step_id: stepId,
          model: name,
          price,
          prompt_tokens: piecesOfAll(messages),
          ...replayed,
        })
        if (subscriber.closed) return
        if (failure !== undefined) throw recordedFailure(failure)
        const asked = most ? shortened(settings, most.tokens) : settings
        const request = { ...asked, messages, ...offered, ...(format ? { format } : {}) }
        journal.asks?.(at, request)
        const answer = recorded ? from(toldAgain(recorded)) : model.stream(request)
        relayed(answer, subscriber, { next: heard, complete: ended })
      }

      const saving = recorded ? undefined : journal.saved()
      const ready = saving ? from(saving).pipe(ignoreElements()) : budget.pause()
      relayed(ready, subscriber, { next: () => undefined, complete: ask })
    })

  const { results = new Map() } = turn.resume ?? {}
  return round(1, '', resume ? [...opening, ...answeredCalls(resume, results)] : opening)
}

/** One model with its tools; it may hand the turn to one of its sub-agents. */
export const llmAgent: AgentKind = (agent, step, runtime) =>
  defer(() => {
    const { turn, depth, exitLoop } = step
    const { resume } = step
    if (resume?.kind === 'transfer') {
      const to = turn.agents.get(resume.below.agentId)
      if (!to?.isActive) throw new AgentFault('an agent is gone that waited for the client')
      const { below, said: earlier } = resume
      return handedOver(agent, to, '', step, runtime, { below, earlier })
    }
    if (turn.target && depth === 0 && !resume)
      return handedOver(agent, turn.target, '', step, runtime)
    const own = runtime.toolsOf(agent, turn)
    const go = (tools: readonly Tool[]) =>
      conversation(agent, step, runtime, exitLoop ? [...tools, exitLoop] : tools)
    return own instanceof Promise ? from(own).pipe(switchMap(go)) : go(own)
  })
