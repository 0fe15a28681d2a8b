import type { RequestContent } from '../../commands/request-content.ts'
import { contentEvents } from '../../src/domain/content/events.ts'
import { sampleOf } from './events.ts'

/** An item that user-1 asks and pays for: 100 micro-credits are held back. */
export const contentRequest = (contentId: string, more: Partial<RequestContent> = {}) => ({
  ...sampleOf(contentEvents, 'ContentRequested', {
    userId: 'user-1',
    keyId: 'key-1',
    payerId: 'user-1',
    maxRetries: 3,
    reserved: 100,
  }).data,
  contentId,
  sessionId: 's-1',
  ...more,
})

export const completedWith = (charge: number) => ({
  completed: sampleOf(contentEvents, 'ContentCompleted', { charge }).data,
})

export const failedWith = { failed: { errorMessage: 'no', processingTimeMs: 1 } }
