import { concat, defer, type Observable, of } from 'rxjs'
import { type AgentConfig, AgentFault } from './agent.ts'
import type { AgentAnswer, AgentOutput } from './agent-event.ts'
import type { AgentStep, BodyEvent, Runtime } from './agent-kind.ts'
import { answerEvent, answerOf } from './hand-over.ts'
import { oneByOne } from './one-by-one.ts'
import { following, paragraphs } from './paragraphs.ts'
import { type Suspended, waited } from './suspended.ts'

/**
 * Runs agents one after another, each seeing the outputs of those before it, until one's answer
 * ends it or the run has no step left. The container's answer is all of theirs, as paragraphs.
 */
export const inBranchOrder = (
  container: AgentConfig,
  agents: readonly AgentConfig[],
  step: AgentStep,
  runtime: Runtime,
  isEnd: (answer: AgentAnswer) => boolean = () => false,
  /** Whether the agents have been told to end. */
  left: () => boolean = () => false,
): Observable<BodyEvent> =>
  defer(() => {
    const resume = waited(step.resume, 'order')
    if (resume && !agents[resume.at])
      throw new AgentFault(`${container.name} has changed while it waited for the client`)
    const earlier = resume?.said ?? ''
    let text = ''
    let isOver = false
    let suspended: Suspended | undefined
    const outputs: AgentOutput[] = [...(resume?.outputs ?? [])]
    const { format } = step.turn
    let reason: AgentAnswer['finishReason'] = 'stop'
    let nextIndex = resume?.at ?? 0
    const isLast = (n: number) => agents[n]?.agentId === agents.at(-1)?.agentId
    const take = (answer: AgentAnswer) => {
      if (!format) text = paragraphs(text, answer.text)
      else if (isLast(nextIndex - 1)) {
        text = answer.text
        reason = answer.finishReason
      }
      if (answer.suspended)
        suspended = {
          kind: 'order',
          agentId: container.agentId,
          said: paragraphs(earlier, text),
          at: nextIndex - 1,
          outputs: [...outputs],
          left: left(),
          below: answer.suspended,
        }
      outputs.push(...answer.outputs)
      isOver = isEnd(answer)
    }
    const next = () => {
      const agent = agents[nextIndex++]
      if (!agent || isOver || suspended) return undefined
      const at = `${step.at}.${nextIndex - 1}`
      if (step.budget.reached() && !step.journal.stepAt(at)) return undefined
      const below = resume && nextIndex === resume.at + 1 ? resume.below : undefined
      const final = step.final && isLast(nextIndex - 1)
      const place = { ...step, at, final, resume: below, outputs: [...step.outputs, ...outputs] }
      return following(text, answerOf(agent, container, place, runtime, take))
    }
    const finish = () => {
      const suspension: Partial<AgentAnswer> = suspended
        ? { finishReason: 'tool_calls', suspended }
        : {}
      const answer = { text, finishReason: reason, ...suspension }
      return of(answerEvent(container, answer, outputs, earlier))
    }
    return concat(oneByOne(next), defer(finish))
  })
