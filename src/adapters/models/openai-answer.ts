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
import type { Hearer } from './event-stream.ts'
import {
  type CallDelta,
  chunkIn,
  finishReasonOf,
  type HeardChunk,
  usualChunk,
} from './openai-chunk.ts'
import { plausibleUsage } from './plausible-usage.ts'
import { brokenOff } from './provider-failure.ts'
import { sameButText } from './same-but-text.ts'

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

const chunkOf = (data: string): HeardChunk => {
  const value = parsed(data)
  const chunk = usualChunk(value) ?? (isTooComplex(data, mostJson) ? undefined : chunkIn(value))
  if (!chunk) throw new ModelFault(notInProtocol)
  if (chunk.isError) throw brokenOff(data)
  return chunk
}

/** What a chunk says if that is a text and nothing else. */
const aloneIn = ({ text, refusal, calls, reason, usage }: HeardChunk): string | undefined =>
  refusal || calls || reason || usage ? undefined : (text ?? undefined)

const textAlone = (data: string): string | undefined => aloneIn(chunkOf(data))

/**
 * Replaces half surrogate pairs, which UTF-8 cannot encode, so that stored and executed text agree.
 */
const whole = (text: string): string => text.toWellFormed()

/** Assembles tool calls from their pieces, by index. */
const assembly = () => {
  const calls: ToolCall[] = []
  const place = new Map<number, number>()
  return {
    add({ index, id, function: piece }: CallDelta, position: number): void {
      const key = index ?? position
      let at = place.get(key)
      // Some providers number every call 0: another id begins another call.
      const known = at === undefined ? undefined : calls[at]?.id
      if (at === undefined || (id && known && known !== id)) {
        at = calls.push({ id: '', name: '', arguments: '' }) - 1
        place.set(key, at)
      }
      const call = calls[at]
      if (!call) return
      call.id ||= id ?? ''
      call.name ||= piece?.name ?? ''
      call.arguments += piece?.arguments ?? ''
    },
    /** The complete calls; one without an id gets its place in the answer. */
    all: (): ToolCall[] =>
      calls.map((call, n) => {
        if (call.name === '') throw new ModelFault('the model provider sent a call without a name')
        return {
          id: whole(call.id) || `call_${n}`,
          name: whole(call.name),
          arguments: whole(call.arguments),
        }
      }),
  }
}

type Assembly = ReturnType<typeof assembly>

/** Our own count of a call's tokens. */
export type Count = (completion: string, calls: readonly ToolCall[]) => Promise<Usage>

/**
 * Tells the events of a model, from the data of its event stream. With `whole`, texts that came
 * together are told as one.
 */
export const openAiAnswer = (
  subscriber: Subscriber<ModelEvent>,
  count: Count,
  whole = false,
): Hearer => {
  let text = ''
  /** So much of the text was told. */
  let told = 0
  let reason: FinishReason | undefined
  let refused = false
  let usage: Usage | undefined
  let calls: Assembly | undefined
  const same = sameButText(textAlone)

  const tell = (): void => {
    if (told === text.length) return
    const piece = told === 0 ? text : text.slice(told)
    told = text.length
    subscriber.next({ type: 'text', text: piece })
  }

  const say = (content: string): void => {
    if (content === '') return
    text += content
    if (whole) return
    told = text.length
    subscriber.next({ type: 'text', text: content })
  }

  const heard = (line: string): void => {
    const chunk = chunkOf(line)
    const alone = aloneIn(chunk)
    if (alone !== undefined) {
      same.learn(line, alone)
      say(alone)
      return
    }
    if (chunk.usage) usage = chunk.usage
    if (chunk.reason) reason = finishReasonOf(chunk.reason)
    if (chunk.calls) {
      calls ??= assembly()
      chunk.calls.forEach(calls.add)
    }
    if (chunk.text) say(chunk.text)
    // What a model says in place of the answer that it refuses is said, and fits no format.
    if (chunk.refusal) {
      refused = true
      say(chunk.refusal)
    }
  }

  const ended = (): void => {
    tell()
    if (!reason) throw new ModelUnavailable('the model provider ended in mid-answer')
    const finishReason = refused ? 'content_filter' : reason
    const complete = calls?.all() ?? []
    const done = (used: Usage) => {
      for (const call of complete) subscriber.next({ type: 'tool_call', call })
      subscriber.next({ type: 'done', finishReason, usage: used })
      subscriber.complete()
    }
    const used = plausibleUsage(usage, () => count(text, complete))
    if (used instanceof Promise) used.then(done, (error) => subscriber.error(error))
    else done(used)
  }

  return {
    data(line) {
      const said = same.textOf(line)
      if (said === undefined) heard(line)
      else say(said)
    },
    pause: tell,
    complete() {
      try {
        ended()
      } catch (error) {
        subscriber.error(error)
      }
    },
    error(error) {
      tell()
      subscriber.error(error)
    },
  }
}
