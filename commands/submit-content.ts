import { contentStream, decideSubmit } from '../src/domain/content/content.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

export type SubmitContent = { contentId: string; predictionId: string }

/** Records the provider's id of a running generation, once. */
export const submitContent =
  ({ transact }: { transact: Transact }) =>
  async ({ contentId, predictionId }: SubmitContent, call: Call): Promise<void> => {
    const stream = contentStream(call.organizationId, contentId)
    await transact(stream, decideSubmit(predictionId), call)
  }
export type SubmitContentCommand = ReturnType<typeof submitContent>
