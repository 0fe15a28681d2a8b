import { catchError, concat, defer, EMPTY, map, merge, of, throwError } from 'rxjs'
import { ModelOutputInvalid } from '../ports/model.ts'
import type { AgentConfig } from './agent.ts'
import type { AgentAnswer, AgentEvent } from './agent-event.ts'
import type { AgentKind } from './agent-kind.ts'
import { answered, answerOf, someBelow } from './hand-over.ts'
import { paragraphs } from './paragraphs.ts'

/** An event of a branch, with the branch added to its path. */
const inBranch = (event: AgentEvent, n: number): AgentEvent =>
  event.event === 'token' || event.event === 'branches_began' || event.event === 'branch_ended'
    ? { ...event, path: [n, ...(event.path ?? [])] }
    : event

/**
 * Its sub-agents at the same time. Their outputs are joined in the configured order under their
 * names; one that fails says so there, and the others' outputs are kept. Fails when all do.
 */
export const parallelAgent: AgentKind = (agent, step, runtime) =>
  defer(() => {
    const below = someBelow(agent, step)
    if (step.final && step.turn.format)
      throw new ModelOutputInvalid(`${agent.name} gives several answers, not one in a format`)
    const answers: AgentAnswer[] = []
    const errors: unknown[] = []
    const ended = ({ name }: AgentConfig, n: number) =>
      defer(() =>
        of<AgentEvent>({
          event: 'branch_ended',
          agent: name,
          step_id: step.stepId,
          answered: answers[n] !== undefined,
        }),
      )
    const branches = below.map((branch, n) => {
      const events = answerOf(branch, agent, { ...step, final: false }, runtime, (answer) => {
        answers[n] = answer
      }).pipe(
        catchError((error: unknown) => {
          errors.push(error)
          return EMPTY
        }),
      )
      return concat(events, ended(branch, n)).pipe(map((event) => inBranch(event, n)))
    })
    return concat(
      of<AgentEvent>({ event: 'branches_began', names: below.map(({ name }) => name) }),
      merge(...branches),
      defer(() => {
        if (errors.length === below.length) return throwError(() => errors[0])
        const parts = below.map(
          ({ name }, n) => `${name}:\n${answers[n]?.text ?? '(could not answer)'}`,
        )
        const outputs = below.flatMap((_, n) => answers[n]?.outputs ?? [])
        return of(answered(agent, { text: paragraphs(...parts) }, outputs))
      }),
    )
  })
