import { catchError, concat, defer, EMPTY, merge, of, throwError } from 'rxjs'
import type { AgentAnswer } from './agent-event.ts'
import type { AgentKind } from './agent-kind.ts'
import { answered, answerOf, someBelow } from './hand-over.ts'
import { paragraphs } from './paragraphs.ts'

/**
 * Its sub-agents at the same time. Their outputs are joined in the configured order under their
 * names; one that fails says so there, and the others' outputs are kept. Fails when all do.
 */
export const parallelAgent: AgentKind = (agent, step, runtime) =>
  defer(() => {
    const below = someBelow(agent, step)
    const answers: AgentAnswer[] = []
    const errors: unknown[] = []
    const branches = below.map((branch, n) =>
      answerOf(branch, agent, step, runtime, (answer) => {
        answers[n] = answer
      }).pipe(
        catchError((error: unknown) => {
          errors.push(error)
          return EMPTY
        }),
      ),
    )
    return concat(
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
