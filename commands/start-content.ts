import { contentStream, decideStart, decideSubmit } from '../src/domain/content/content.ts'
import type { Call } from '../src/ports/call.ts'
import type { Transact } from '../src/transact.ts'

/** Takes up a generation that waits, and notes what its provider calls it. */
export const startContent = (transact: Transact) => ({
  /** False when another process has taken it up, or it is over. */
  async take(contentId: string, call: Call): Promise<boolean> {
    const stream = contentStream(call.organizationId, contentId)
    const { events } = await transact(stream, decideStart, call)
    return events.length > 0
  },
  async submitted(contentId: string, predictionId: string, call: Call): Promise<void> {
    const stream = contentStream(call.organizationId, contentId)
    await transact(stream, decideSubmit(predictionId), call)
  },
})
export type StartContentCommand = ReturnType<typeof startContent>
