import { contentStream, decideStart } from '../src/domain/content/content.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

/** A running generation. */
export type ContentAttempt = {
  attempt: number
  payerId: string
  /** Null until the provider has accepted it. */
  predictionId: string | null
  /** In micro-credits. */
  reserved: number
}

/** Starts a pending generation, or continues a running one; undefined: it has ended. */
export const startContent =
  ({ transact }: { transact: Transact }) =>
  async ({ contentId }: { contentId: string }, call: Call): Promise<ContentAttempt | undefined> => {
    const stream = contentStream(call.organizationId, contentId)
    const { state } = await transact(stream, decideStart, call)
    return state.status === 'processing' ? state : undefined
  }
export type StartContentCommand = ReturnType<typeof startContent>
