import type { MessageView } from '../projections/messages.ts'
import type { RunView } from '../projections/runs.ts'
import type { View } from '../src/ports/views.ts'
import type { LinkOf } from './get-content.ts'
import { type MessageAnswer, type MessageUses, messageAnswer } from './get-message.ts'
import { pageBytes } from './opened.ts'

/** More calls than a client can answer at once. */
const most = 1_000

type Uses = Pick<MessageUses, 'open'> & {
  runs: Pick<View<RunView>, 'get'>
  messages: Pick<View<MessageView>, 'get' | 'find'>
}

/**
 * What a run was asked: the message of the user, or the results of the client's tools, in their
 * order. Empty while the run waits for others.
 */
export const listInputItems =
  ({ runs, messages, open }: Uses) =>
  async (runId: string, linkOf: LinkOf): Promise<MessageAnswer[]> => {
    const run = await runs.get(runId)
    const first = run && (await messages.get(run.message_id))
    if (!first) return []
    if (first.event_type !== 'tool_message') return [await messageAnswer(first, open, linkOf)]
    const { items } = await messages.find({
      index: 'by_session',
      equals: [first.organization_id, first.session_id],
      from: first.position,
      limit: most,
      // The results of one request have 4 MB.
      bytes: 2 * pageBytes,
    })
    const results = items.filter(
      ({ event_type, run_id }) => event_type === 'tool_message' && run_id === first.run_id,
    )
    const answers: MessageAnswer[] = []
    for (const result of results) answers.push(await messageAnswer(result, open, linkOf))
    return answers
  }
export type ListInputItems = ReturnType<typeof listInputItems>
