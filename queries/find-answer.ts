import type { MessageView } from '../projections/messages.ts'
import type { RunView } from '../projections/runs.ts'
import type { Sealed } from '../src/domain/sealed.ts'
import type { View } from '../src/ports/views.ts'

type Uses = {
  runs: View<RunView>
  messages: View<MessageView>
  open(text: Sealed): string | undefined | Promise<string | undefined>
}

/**
 * A run and the text it was answered with, as stored; for turns that are no longer in memory.
 * Undefined for an unknown run, and while the answer that it names is not stored yet.
 */
export const findAnswer =
  ({ runs, messages, open }: Uses) =>
  async (runId: string): Promise<{ run: RunView; text: string } | undefined> => {
    const run = await runs.get(runId)
    if (!run) return undefined
    const answer = run.answer_id ? await messages.get(run.answer_id) : undefined
    if (run.answer_id && !answer) return undefined
    return { run, text: (answer && (await open(answer.content))) ?? '' }
  }
export type FindAnswer = ReturnType<typeof findAnswer>
