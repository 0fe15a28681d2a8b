import type { Subscriber } from 'rxjs'
import {
  type FinishReason,
  type ModelEvent,
  ModelFault,
  ModelUnavailable,
  type ToolCall,
  type Usage,
} from '../../ports/model.ts'
import { isTooComplex } from '../../support/json-text.ts'
import { wellFormedPieces } from '../../support/well-formed.ts'
import { callAssembly } from './call-assembly.ts'
import type { Hearer } from './event-stream.ts'
import { endingOf } from './finish-reason.ts'
import { chunkIn, type HeardChunk, usualChunk } from './openai-chunk.ts'
import { countedUsage, isPlausible } from './plausible-usage.ts'
import { brokenOff } from './provider-failure.ts'

/** A reason is a word or a few; others could hold anything. */
const plainReason = /^[\w .:-]{1,64}$/

/** For a chunk of unusual form. */
const mostJson = { depth: 32, nodes: 2_000 }

const notInProtocol = 'the model provider sent a chunk that is not in its protocol'

const parsed = (data: string): unknown => {
  try {
    return JSON.parse(data)
  } catch {
    throw new ModelFault(notInProtocol)
  }
}

/** Characters from which JSON is looked at before it is parsed. */
const largeJson = 65_536
const mostLargeJson = { depth: 32, nodes: 50_000 }

const chunkOf = (data: string): HeardChunk => {
  if (data.length > largeJson && isTooComplex(data, mostLargeJson))
    throw new ModelFault(notInProtocol)
  const value = parsed(data)
  const chunk = usualChunk(value) ?? (isTooComplex(data, mostJson) ? undefined : chunkIn(value))
  if (!chunk) throw new ModelFault(notInProtocol)
  if (chunk.isError) throw brokenOff(data)
  return chunk
}

/** Our own count of a call's tokens. */
export type Count = (completion: string, calls: readonly ToolCall[]) => Promise<Usage>

type AnswerOptions = {
  /** Joins texts that arrive together. */
  isBuffered?: boolean | undefined
  /** Called with a finish reason that is not known here. */
  onUnknownReason?: ((reason: string) => void) | undefined
}

/** Emits the events of a model, from the data of its event stream. */
export const openAiAnswer = (
  subscriber: Subscriber<ModelEvent>,
  count: Count,
  { isBuffered = false, onUnknownReason }: AnswerOptions = {},
): Hearer => {
  let text = ''
  /** So much of the text was emitted. */
  let emitted = 0
  let reason: string | undefined
  let refused = false
  let usage: Usage | null | undefined
  let calls: ReturnType<typeof callAssembly> | undefined
  /** The answer came in messages from its beginning. */
  let inMessages = false
  const pieces = wellFormedPieces()

  const flush = (): void => {
    if (emitted === text.length) return
    const piece = emitted === 0 ? text : text.slice(emitted)
    emitted = text.length
    subscriber.next({ type: 'text', text: piece })
  }

  const emitPiece = (piece: string): void => {
    if (piece === '') return
    text += piece
    if (isBuffered) return
    emitted = text.length
    subscriber.next({ type: 'text', text: piece })
  }

  const say = (content: string): void => emitPiece(pieces.next(content))

  /** What a chunk adds: a message behind pieces repeats them. */
  const newIn = (chunk: HeardChunk): HeardChunk => {
    if (!chunk.isMessage) return chunk
    if (text === '' && !calls) inMessages = true
    if (inMessages) return chunk
    const message = chunk.text?.toWellFormed()
    const isLonger = message?.startsWith(text)
    // The message has the half of a character that was held back, too.
    if (isLonger) pieces.rest()
    return {
      ...chunk,
      text: isLonger ? message?.slice(text.length) : undefined,
      calls: calls ? undefined : chunk.calls,
    }
  }

  const heard = (line: string): void => {
    const chunk = newIn(chunkOf(line))
    if (chunk.usage !== undefined) usage = chunk.usage
    if (chunk.reason) reason = chunk.reason
    if (chunk.calls && chunk.calls.length > 0) {
      calls ??= callAssembly()
      chunk.calls.forEach(calls.add)
    }
    if (chunk.text) say(chunk.text)
    // What a model says in place of the answer that it refuses is said, and fits no format.
    if (chunk.refusal) {
      refused = true
      say(chunk.refusal)
    }
  }

  /** @throws ModelUnavailable, ModelFault where the answer is none */
  const finishReason = (): FinishReason => {
    if (!reason) throw new ModelUnavailable('the model provider ended in mid-answer')
    const ending = endingOf(reason)
    if (ending === 'failed') throw new ModelUnavailable('the model provider failed in mid-answer')
    if (ending === 'misformed') throw new ModelFault('the model wrote a call that nobody can read')
    if (refused) return 'content_filter'
    if (ending === 'length' || ending === 'content_filter') return ending
    if (ending === 'unknown') {
      onUnknownReason?.(plainReason.test(reason) ? reason : 'not a word')
      if (calls ? !calls.areWhole() : text === '')
        throw new ModelFault('the model provider ended an unfinished answer for an unknown reason')
    }
    return calls ? 'tool_calls' : 'stop'
  }

  const finish = (): void => {
    emitPiece(pieces.rest())
    flush()
    const end = finishReason()
    // Of an answer that was cut off, no call is known to be complete.
    const complete = end === 'tool_calls' ? (calls?.all() ?? []) : []
    const done = (used: Usage) => {
      for (const call of complete) subscriber.next({ type: 'tool_call', call })
      subscriber.next({ type: 'done', finishReason: end, usage: used })
      subscriber.complete()
    }
    if (isPlausible(usage)) {
      done(usage)
      return
    }
    const own = count(text, calls?.partial() ?? [])
    countedUsage(usage, own).then(done, (error) => subscriber.error(error))
  }

  return {
    data: heard,
    pause: flush,
    complete() {
      try {
        finish()
      } catch (error) {
        subscriber.error(error)
      }
    },
    error(error) {
      flush()
      subscriber.error(error)
    },
  }
}
