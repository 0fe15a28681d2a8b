import { catchError, concat, defer, EMPTY, map, merge, type Observable, of, throwError } from 'rxjs'
import { ModelOutputInvalid } from '../ports/model.ts'
import { type AgentConfig, AgentFault, Paused } from './agent.ts'
import type { AgentAnswer, AgentEvent } from './agent-event.ts'
import type { AgentKind, AgentStep, BodyEvent, Runtime } from './agent-kind.ts'
import { answerEvent, answerOf, someBelow } from './hand-over.ts'
import { paragraphs } from './paragraphs.ts'
import { type Suspended, waited } from './suspended.ts'

/** An event of a branch, with the branch added to its path. */
const inBranch = (event: AgentEvent, n: number): AgentEvent =>
  event.event === 'token' || event.event === 'branches_began' || event.event === 'branch_ended'
    ? { ...event, path: [n, ...(event.path ?? [])] }
    : event

type SuspendedBranches = Suspended & { kind: 'parallel' }
type StoredBranch = SuspendedBranches['branches'][number]

/** A branch as it is stored while it waits, or another one does. */
const storedBranch = (agentId: string, answer: AgentAnswer | undefined): StoredBranch =>
  answer?.suspended
    ? { agentId, below: answer.suspended }
    : { agentId, outputs: [...(answer?.outputs ?? [])] }

/** A branch that runs, with its state where it waited for the client. */
type Branch = { branch: AgentConfig; below: Suspended | undefined }

/** The branches that run: all of them, or those that waited for the client. */
const branchesToRun = (
  below: readonly AgentConfig[],
  resume: SuspendedBranches | undefined,
): Branch[] => {
  if (!resume) return below.map((branch) => ({ branch, below: undefined }))
  return resume.branches.flatMap((stored) => {
    if (!('below' in stored)) return []
    const branch = below.find(({ agentId }) => agentId === stored.agentId)
    if (!branch) throw new AgentFault('an agent has changed while it waited for the client')
    return [{ branch, below: stored.below }]
  })
}

/** The outcome of each branch that ran, by its number. */
type Outcomes = {
  answers: Map<number, AgentAnswer>
  errors: unknown[]
  /** Branches that wait for a person; the others run to their ends. */
  paused: Set<number>
}

/** The events of a branch, then its end; its outcome is noted. */
const runBranch = (
  agent: AgentConfig,
  { branch, below }: Branch,
  n: number,
  step: AgentStep,
  runtime: Runtime,
  { answers, errors, paused }: Outcomes,
): Observable<AgentEvent> => {
  const place: AgentStep = { ...step, at: `${step.at}.${n}`, final: false, resume: below }
  const events = answerOf(branch, agent, place, runtime, (answer) => answers.set(n, answer)).pipe(
    catchError((error: unknown) => {
      if (error instanceof Paused) paused.add(n)
      else errors.push(error)
      return EMPTY
    }),
  )
  const end = defer(() =>
    paused.has(n)
      ? EMPTY
      : of<AgentEvent>({
          event: 'branch_ended',
          agent: branch.name,
          step_id: step.stepId,
          answered: answers.has(n),
        }),
  )
  return concat(events, end).pipe(map((event) => inBranch(event, n)))
}

/** The text of all branches, each under its name. */
const joinedText = (branches: readonly Branch[], { answers }: Outcomes): string =>
  paragraphs(
    ...branches.map(
      ({ branch }, n) => `${branch.name}:\n${answers.get(n)?.text ?? '(could not answer)'}`,
    ),
  )

/** All branches, of this turn and of those before it. */
const branchesSoFar = (
  branches: readonly Branch[],
  { answers }: Outcomes,
  resume: SuspendedBranches | undefined,
): StoredBranch[] => {
  const current = branches.map(({ branch }, n) => storedBranch(branch.agentId, answers.get(n)))
  if (!resume) return current
  return resume.branches.map(
    (stored) => current.find(({ agentId }) => agentId === stored.agentId) ?? stored,
  )
}

/** The agent's answer; it waits for the client as long as one of its branches does. */
const parallelAnswer = (
  { agentId }: AgentConfig,
  text: string,
  branches: StoredBranch[],
  earlier: string,
): Pick<AgentAnswer, 'text'> & Partial<AgentAnswer> => {
  if (!branches.some((branch) => 'below' in branch)) return { text }
  const soFar = paragraphs(earlier, text)
  const suspended: Suspended = { kind: 'parallel', agentId, said: soFar, branches }
  return { text, suspended, finishReason: 'tool_calls' }
}

/** Pauses while a branch does, and fails where all did. */
const joinBranches = (
  agent: AgentConfig,
  branches: readonly Branch[],
  outcomes: Outcomes,
  resume: SuspendedBranches | undefined,
): Observable<BodyEvent> => {
  const { errors, paused } = outcomes
  if (paused.size > 0) return throwError(() => new Paused())
  if (errors.length === branches.length) return throwError(() => errors[0])
  const all = branchesSoFar(branches, outcomes, resume)
  const earlier = resume?.said ?? ''
  const answer = parallelAnswer(agent, joinedText(branches, outcomes), all, earlier)
  const outputs = all.flatMap((branch) => ('outputs' in branch ? branch.outputs : []))
  return of(answerEvent(agent, answer, outputs, earlier))
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
    const branches = branchesToRun(someBelow(agent, step), resume)
    const outcomes: Outcomes = { answers: new Map(), errors: [], paused: new Set() }
    const names = branches.map(({ branch }) => branch.name)
    return concat(
      of<AgentEvent>({ event: 'branches_began', names }),
      merge(...branches.map((branch, n) => runBranch(agent, branch, n, step, runtime, outcomes))),
      defer(() => joinBranches(agent, branches, outcomes, resume)),
    )
  })
