import { catchError, concat, defer, EMPTY, map, merge, of, throwError } from 'rxjs'
import { ModelOutputInvalid } from '../ports/model.ts'
import { type AgentConfig, AgentFault, Paused } from './agent.ts'
import type { AgentAnswer, AgentEvent } from './agent-event.ts'
import type { AgentKind, AgentStep } from './agent-kind.ts'
import { answered, answerOf, someBelow } from './hand-over.ts'
import { paragraphs } from './paragraphs.ts'
import { type Suspended, waited } from './suspended.ts'

/** An event of a branch, with the branch added to its path. */
const inBranch = (event: AgentEvent, n: number): AgentEvent =>
  event.event === 'token' || event.event === 'branches_began' || event.event === 'branch_ended'
    ? { ...event, path: [n, ...(event.path ?? [])] }
    : event

/** What is kept of a branch while another one waits, or it does itself. */
const branchOf = (agentId: string, answer: AgentAnswer | undefined) =>
  answer?.suspended
    ? { agentId, below: answer.suspended }
    : { agentId, outputs: [...(answer?.outputs ?? [])] }

type Waiting = { branch: AgentConfig; below: Suspended | undefined }

/** The branches that run: all of them, or those that waited for the client. */
const toRun = (
  below: readonly AgentConfig[],
  resume: (Suspended & { kind: 'parallel' }) | undefined,
): Waiting[] => {
  if (!resume) return below.map((branch) => ({ branch, below: undefined }))
  return resume.branches.flatMap((one) => {
    if (!('below' in one)) return []
    const branch = below.find(({ agentId }) => agentId === one.agentId)
    if (!branch) throw new AgentFault('an agent has changed while it waited for the client')
    return [{ branch, below: one.below }]
  })
}

/**
 * Its sub-agents at the same time. Their outputs are joined in the configured order under their
 * names; one that fails says so there, and the others' outputs are kept. Fails when all do.
 */
export const parallelAgent: AgentKind = (agent, step, runtime) =>
  defer(() => {
    if (step.final && step.turn.format)
      throw new ModelOutputInvalid(`${agent.name} gives several answers, not one in a format`)
    const resume = waited(step.resume, 'parallel')
    const running = toRun(someBelow(agent, step), resume)
    const below = running.map(({ branch }) => branch)
    const answers: AgentAnswer[] = []
    const errors: unknown[] = []
    /** Branches that wait for somebody; the others go on to their ends. */
    const paused = new Set<number>()
    const ended = ({ name }: AgentConfig, n: number) =>
      defer(() =>
        of<AgentEvent>({
          event: 'branch_ended',
          agent: name,
          step_id: step.stepId,
          answered: answers[n] !== undefined,
        }),
      )
    const branches = running.map(({ branch, below }, n) => {
      const at = `${step.at}.${n}`
      const place: AgentStep = { ...step, at, final: false, resume: below }
      const events = answerOf(branch, agent, place, runtime, (answer) => {
        answers[n] = answer
      }).pipe(
        catchError((error: unknown) => {
          if (error instanceof Paused) paused.add(n)
          else errors.push(error)
          return EMPTY
        }),
      )
      const end = defer(() => (paused.has(n) ? EMPTY : ended(branch, n)))
      return concat(events, end).pipe(map((event) => inBranch(event, n)))
    })
    return concat(
      of<AgentEvent>({ event: 'branches_began', names: below.map(({ name }) => name) }),
      merge(...branches),
      defer(() => {
        if (paused.size > 0) return throwError(() => new Paused())
        if (errors.length === below.length) return throwError(() => errors[0])
        const parts = below.map(
          ({ name }, n) => `${name}:\n${answers[n]?.text ?? '(could not answer)'}`,
        )
        const text = paragraphs(...parts)
        const now = below.map(({ agentId }, n) => branchOf(agentId, answers[n]))
        const whole = resume
          ? resume.branches.map((one) => now.find(({ agentId }) => agentId === one.agentId) ?? one)
          : now
        const outputs = whole.flatMap((one) => ('outputs' in one ? one.outputs : []))
        const earlier = resume?.said ?? ''
        if (!whole.some((one) => 'below' in one))
          return of(answered(agent, { text }, outputs, earlier))
        const suspended: Suspended = {
          kind: 'parallel',
          agentId: agent.agentId,
          said: paragraphs(earlier, text),
          branches: whole,
        }
        const waits = { text, suspended, finishReason: 'tool_calls' } as const
        return of(answered(agent, waits, outputs, earlier))
      }),
    )
  })
