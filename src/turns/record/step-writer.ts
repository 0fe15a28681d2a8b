import type { AgentEvent } from '../../agents/agent-event.ts'
import type { SessionEvent } from '../../domain/session/events.ts'
import { isStep } from './recorder.ts'

/** Another process has taken the run over: this one stops, and stores nothing more of it. */
export class RunLost extends Error {
  override readonly name = 'RunLost'
  constructor(runId: string) {
    super(`run ${runId} is another process's now, or has ended`)
  }
}

type Uses = {
  /** The event that is stored for it, if any. */
  stepOf(event: AgentEvent): SessionEvent | undefined
  /** Stores steps of the run. @throws RunLost, AppendTooLarge, StoreUnavailable */
  record(steps: readonly SessionEvent[]): Promise<unknown>
  /** How many answers of the run's models are recorded already. */
  answerCount?: number
}

/** Steps of a running turn are stored after this long, so that its status can be read. */
const recordAfterMs = 250

/** Other work depends on these: they are on disk before it begins. */
const binding = new Set<AgentEvent['event']>(['model_answered', 'tool_started', 'tool_completed'])

const isAnswer = ({ event }: AgentEvent): boolean => event === 'model_answered'

const answersIn = (events: readonly AgentEvent[]): number => {
  let answers = 0
  for (const event of events) if (isAnswer(event)) answers++
  return answers
}

/**
 * Writes the steps of a run in order: after a while, or when somebody waits for it. Steps of one
 * iteration of the event loop are written together. A failed write is retried with the next.
 */
export const stepWriter = ({ stepOf, record, answerCount: recorded = 0 }: Uses) => {
  let failed = (_error: unknown): void => undefined
  let waiting: AgentEvent[] = []
  let bound = false
  let answerCount = recorded
  let writing: Promise<void> | undefined
  let coming: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let keepsUp = false

  /** `withAnswers`: else those of the models are left out. */
  const stepsOf = (events: readonly AgentEvent[], withAnswers = true): SessionEvent[] => {
    const steps: SessionEvent[] = []
    for (const event of events) {
      const step = withAnswers || !isAnswer(event) ? stepOf(event) : undefined
      if (step) steps.push(step)
    }
    return steps
  }

  const later = (): void => {
    timer ??= setTimeout(() => soon().catch(() => undefined), recordAfterMs)
  }

  const write = async (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    const now = waiting
    if (now.length === 0) return
    waiting = []
    bound = false
    try {
      await record(stepsOf(now))
      answerCount += answersIn(now)
    } catch (error) {
      waiting = [...now, ...waiting]
      bound = true
      failed(error)
      throw error
    }
  }

  /** Begins when the write under way is over, with the steps until then. */
  const soon = (): Promise<void> => {
    coming ??= (writing ?? Promise.resolve())
      .catch(() => undefined)
      .then(() => {
        coming = undefined
        writing = write().finally(() => {
          writing = undefined
        })
        return writing
      })
    return coming
  }

  const unwritten = (answerIsMessage: boolean): SessionEvent[] => {
    const isOnly = answerIsMessage && answerCount + answersIn(waiting) === 1
    return stepsOf(waiting, !isOnly)
  }

  return {
    /** Calls back with the error of each write that fails. */
    onFailure(listener: (error: unknown) => void): void {
      failed = listener
    },

    note(event: AgentEvent): void {
      if (('replayed' in event && event.replayed) || !isStep(event)) return
      waiting.push(event)
      bound ||= binding.has(event.event)
      if (keepsUp) later()
    },

    /** From now on steps are stored after a while. A run that ends in one go needs none of it. */
    keepUp(): void {
      keepsUp = true
      if (waiting.length > 0) later()
    },

    /** See `Journal.saved`. */
    saved: (): Promise<void> | undefined => (bound ? soon() : (coming ?? writing)),

    /**
     * The steps that are not written when the run ends; nothing is written after that. If the run
     * had one model answer, and the message has its text, that step is left out.
     */
    async rest({ answerIsMessage }: { answerIsMessage: boolean }): Promise<SessionEvent[]> {
      clearTimeout(timer)
      if (coming || writing) {
        await coming?.catch(() => undefined)
        await writing?.catch(() => undefined)
        clearTimeout(timer)
      }
      return unwritten(answerIsMessage)
    },
  }
}

export type StepWriter = ReturnType<typeof stepWriter>
