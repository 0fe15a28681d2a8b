import type { MessageView } from '../projections/messages.ts'
import type { RunView } from '../projections/runs.ts'
import type { Sealed } from '../src/domain/sealed.ts'
import type { ToolCall } from '../src/ports/model.ts'
import type { View } from '../src/ports/views.ts'

type Uses = {
  runs: View<RunView>
  messages: View<MessageView>
  open(text: Sealed): string | undefined | Promise<string | undefined>
}

export type StoredAnswer = {
  run: RunView
  text: string
  /** Of the client's own tools. */
  calls?: readonly ToolCall[]
}

/**
 * A run and the text it was answered with, as stored; for turns that are no longer in memory.
 * Undefined for an unknown run, and while the answer that it names is not stored yet.
 */
export const findAnswer =
  ({ runs, messages, open }: Uses) =>
  async (runId: string): Promise<StoredAnswer | undefined> => {
    const run = await runs.get(runId)
    if (!run) return undefined
    const answer = run.answer_id ? await messages.get(run.answer_id) : undefined
    if (run.answer_id && !answer) return undefined
    const text = (answer && (await open(answer.content))) ?? ''
    if (!answer?.tool_calls) return { run, text }
    const calls = answer.tool_calls.map(async (call) => ({
      ...call,
      arguments: (await open(call.arguments)) ?? '',
    }))
    return { run, text, calls: await Promise.all(calls) }
  }
export type FindAnswer = ReturnType<typeof findAnswer>
