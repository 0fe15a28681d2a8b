import { concat, defer, type Observable, of } from 'rxjs'
import type { AgentConfig } from './agent.ts'
import type { AgentAnswer, AgentOutput } from './agent-event.ts'
import type { AgentStep, BodyEvent, Runtime } from './agent-kind.ts'
import { answered, answerOf } from './hand-over.ts'
import { oneByOne } from './one-by-one.ts'
import { following, paragraphs } from './paragraphs.ts'

/**
 * Runs agents one after another, each seeing the outputs of those before it, until one's answer
 * ends it or the run has no step left. The container's answer is all of theirs, as paragraphs.
 */
export const inBranchOrder = (
  container: AgentConfig,
  agents: readonly AgentConfig[],
  step: AgentStep,
  runtime: Runtime,
  ends: (answer: AgentAnswer) => boolean = () => false,
): Observable<BodyEvent> =>
  defer(() => {
    let text = ''
    let ended = false
    const outputs: AgentOutput[] = []
    const { format } = step.turn
    let reason: AgentAnswer['finishReason'] = 'stop'
    const isLast = (n: number) => agents[n]?.agentId === agents.at(-1)?.agentId
    const take = (answer: AgentAnswer) => {
      if (!format) text = paragraphs(text, answer.text)
      else if (isLast(begun - 1)) {
        text = answer.text
        reason = answer.finishReason
      }
      outputs.push(...answer.outputs)
      ended = ends(answer)
    }
    let begun = 0
    const next = () => {
      const agent = agents[begun++]
      if (!agent || ended || step.budget.spent) return undefined
      const final = step.final && isLast(begun - 1)
      const place = { ...step, final, outputs: [...step.outputs, ...outputs] }
      return following(text, answerOf(agent, container, place, runtime, take))
    }
    return concat(
      oneByOne(next),
      defer(() => of(answered(container, { text, finishReason: reason }, outputs))),
    )
  })
