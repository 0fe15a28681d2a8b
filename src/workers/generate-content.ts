import type { Observable } from 'rxjs'
import type { FinishContentCommand } from '../../commands/finish-content.ts'
import type { ReserveContentCreditsCommand } from '../../commands/reserve-content-credits.ts'
import type { ContentAttempt, StartContentCommand } from '../../commands/start-content.ts'
import type { SubmitContentCommand } from '../../commands/submit-content.ts'
import type { ContentView } from '../../projections/contents.ts'
import { findPages } from '../../queries/find-pages.ts'
import type { ContentEvent } from '../domain/content/events.ts'
import { reservationOf } from '../domain/content/reservation.ts'
import { Refusal, refusal } from '../domain/refusal.ts'
import { BlobTooLarge } from '../ports/blobs.ts'
import { type Call, systemCall } from '../ports/call.ts'
import type { Clock } from '../ports/clock.ts'
import {
  type ContentProvider,
  type GenerationInput,
  type Prediction,
  ProviderFault,
  ProviderUnavailable,
} from '../ports/content-provider.ts'
import { KeyDestroyed } from '../ports/keys.ts'
import type { Leases } from '../ports/leases.ts'
import type { Log } from '../ports/log.ts'
import type { DocumentChange, View } from '../ports/views.ts'
import type { SealedBlobs } from '../security/sealed-blobs.ts'
import type { Vault } from '../security/vault.ts'
import { sinceStored, stopwatch } from '../support/stopwatch.ts'
import type { StorageQuotas } from '../turns/begin/storage-quotas.ts'
import { checkOutput, kindOf } from './check-output.ts'
import { withLease } from './with-lease.ts'
import { workQueue } from './work-queue.ts'

/** Files larger than this are not stored. */
const mostBytes = 256 * 1024 * 1024
const failureAfterMs = 10 * 60_000
/** How many items are generated at once: most of the time they wait for the provider. */
const mostGenerated = 32
const mostOfOrganization = 8

type Uses = {
  contents: View<ContentView>
  changes: Observable<readonly { view: string; changes: readonly DocumentChange[] }[]>
  provider: ContentProvider
  blobs: SealedBlobs
  quotas: Pick<StorageQuotas, 'isFull'>
  vault: Vault
  startContent: StartContentCommand
  reserveContentCredits: ReserveContentCreditsCommand
  submitContent: SubmitContentCommand
  finishContent: FinishContentCommand
  leases: Leases
  /** The request that asked for an item, for the log. */
  findRequestId(id: string): Promise<string | undefined>
  clock: Clock
  node: string
  log: Log
  /** Where a provider reports the end of an item; undefined: it is only polled. */
  webhookOf?: (contentId: string) => string | undefined
  pollMs?: number | undefined
  maxBytes?: number | undefined
}

/** Milliseconds since the attempt started, also in an earlier process. */
type Elapsed = () => number

type Completed = ContentEvent<'ContentCompleted'>['data']

/** This process stops; the next one continues. */
class Stopped extends Error {
  override readonly name = 'Stopped'
}

const erased = 'The request was erased'
const timedOut = new ProviderFault('The generation took longer than 10 minutes')

/**
 * Generates requested content: pending → provider → blob → completed or failed. Each step is stored
 * before the next, with ids derived from the item, so that a restart continues where the last
 * process stopped and nothing is generated twice.
 */
export const generateContent = (uses: Uses) => {
  const { contents, provider, blobs, vault } = uses
  const { startContent, reserveContentCredits, submitContent, finishContent } = uses
  const { leases, clock, node, log, pollMs = 1_000, maxBytes = mostBytes } = uses
  const wakers = new Map<string, () => void>()
  let stopped = false

  const callFor = ({ id, organization_id }: ContentView) =>
    systemCall(id, clock.now(), organization_id)

  /** Files are sealed as the texts of their item are. */
  const filesOf = ({ prompt }: ContentView) => blobs.under(prompt.$sealed)

  /** Sleeps until the next poll, or until the provider's webhook wakes it. @throws Stopped */
  const pause = async (id: string): Promise<void> => {
    if (!stopped)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pollMs)
        wakers.set(id, () => {
          clearTimeout(timer)
          resolve()
        })
      })
    if (stopped) throw new Stopped()
  }

  const retryUnavailable = async <T>(
    id: string,
    elapsed: Elapsed,
    work: () => Promise<T>,
  ): Promise<T> => {
    for (;;) {
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof ProviderUnavailable)) throw error
        if (elapsed() > failureAfterMs) throw timedOut
        await pause(id)
      }
    }
  }

  const awaitPrediction = async (
    view: ContentView,
    { attempt, predictionId }: ContentAttempt,
    generation: GenerationInput,
    elapsed: Elapsed,
  ) => {
    const { id } = view
    const create = () =>
      provider.create(generation, reservationOf(id, attempt), uses.webhookOf?.(id))
    const poll = (known: string) => () => provider.poll(known, generation)
    const first = predictionId === null ? create : poll(predictionId)
    let prediction: Prediction = await retryUnavailable(id, elapsed, first)
    if (predictionId === null) {
      const submission = { contentId: id, predictionId: prediction.id }
      await submitContent(submission, callFor(view))
    }
    while (prediction.status === 'processing') {
      if (elapsed() > failureAfterMs) {
        await provider.cancel(prediction.id).catch(() => undefined)
        throw timedOut
      }
      await pause(id)
      prediction = await retryUnavailable(id, elapsed, poll(prediction.id))
    }
    if (prediction.status !== 'succeeded')
      throw new ProviderFault(prediction.error ?? 'The provider canceled the generation')
    return prediction
  }

  const generateOutput = async (
    view: ContentView,
    attempt: ContentAttempt,
    elapsed: Elapsed,
  ): Promise<Completed> => {
    const input = await vault.open(view.input)
    if (input === undefined) throw new ProviderFault(erased)
    const generation = { contentType: view.requested, input: JSON.parse(input) }
    const prediction = await awaitPrediction(view, attempt, generation, elapsed)
    if (await uses.quotas.isFull(view.organization_id, attempt.payerId))
      throw refusal('storage_quota_exceeded')
    const { name, size, mediaType } = await retryUnavailable(view.id, elapsed, async () => {
      const output = await provider.output(prediction, generation)
      const { bytes, mediaType } = await checkOutput(output, generation)
      return { ...(await filesOf(view).put(bytes, maxBytes)), mediaType }
    })
    return {
      contentType: kindOf(mediaType),
      outputUrl: prediction.outputUrl,
      hash: name,
      size,
      mediaType,
      processingTimeMs: elapsed(),
      charge: attempt.reserved,
    }
  }

  /** The message for the user; undefined when a later attempt may succeed. */
  const wordsFor = (error: unknown): string | undefined => {
    if (error instanceof ProviderFault || error instanceof Refusal) return error.message
    if (error instanceof KeyDestroyed) return erased
    if (error instanceof BlobTooLarge) return 'The output is too large'
    return undefined
  }

  const runAttempt = async (
    view: ContentView,
    contentAttempt: ContentAttempt,
    call: Call,
  ): Promise<void> => {
    const { id, retry_count, started_at } = view
    const { attempt, payerId, reserved } = contentAttempt
    const isSeen = retry_count === attempt && started_at !== null
    const elapsed = stopwatch(clock, isSeen ? sinceStored(clock, started_at) : 0)
    const finish = (end: Parameters<typeof finishContent>[0]['end']) =>
      finishContent({ contentId: id, attempt, payerId, end }, callFor(view))
    try {
      await reserveContentCredits({ contentId: id, attempt, payerId, reserved }, call)
      const completed = await generateOutput(view, contentAttempt, elapsed)
      const { erased } = await finish({ completed })
      if (erased) await filesOf(view).remove(completed.hash)
    } catch (error) {
      if (stopped) return
      const errorMessage = wordsFor(error)
      if (!errorMessage) throw error
      await finish({ failed: { errorMessage, processingTimeMs: elapsed() } })
    } finally {
      wakers.delete(id)
    }
  }

  /** The view lists open items; the item's stream has the progress. */
  const generate = async (id: string): Promise<void> => {
    const view = await contents.get(id)
    if (!view?.open) return
    await withLease({ leases, name: `content:${id}`, holder: node }, async () => {
      const call = callFor(view)
      const contentAttempt = await startContent({ contentId: id }, call)
      if (contentAttempt) await runAttempt(view, contentAttempt, call)
    })
  }

  const queue = workQueue({
    work: generate,
    log,
    findRequestId: uses.findRequestId,
    most: mostGenerated,
    mostOfOne: mostOfOrganization,
    what: 'content generation',
  })
  const watching = uses.changes.subscribe((batch) => {
    for (const { view, changes } of batch)
      if (view === 'contents')
        for (const { id, document } of changes) {
          const content = document as ContentView | undefined
          if (content?.status === 'pending') queue.add(content.organization_id, id)
        }
  })

  return {
    /** How many contents wait or are worked on. */
    length: queue.length,
    /** The provider reports that an item has ended: it is polled now. */
    wake: (contentId: string): void => wakers.get(contentId)?.(),
    /**
     * Queues all open items, also those of a process that has died; called at the start and
     * periodically.
     */
    async sweep(): Promise<void> {
      for await (const items of findPages(contents, { index: 'open', equals: [true] }))
        for (const { organization_id, id } of items) queue.add(organization_id, id)
    },
    async stop(): Promise<void> {
      watching.unsubscribe()
      stopped = true
      for (const wake of wakers.values()) wake()
      await queue.stop()
    },
  }
}
