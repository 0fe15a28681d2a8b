import { Observable } from 'rxjs'
import {
  type FinishReason,
  type ModelEvent,
  ModelFault,
  ModelUnavailable,
  type ToolCall,
  type Usage,
} from '../../ports/model.ts'
import { relayed } from '../../support/relayed.ts'
import { finishReasonOf, type OpenAiChunk, openAiChunk, plainText } from './openai-protocol.ts'
import { brokenOff } from './provider-failure.ts'

const notInProtocol = 'the model provider sent a chunk that is not in its protocol'

const parsed = (data: string): unknown => {
  try {
    return JSON.parse(data)
  } catch {
    throw new ModelFault(notInProtocol)
  }
}

const chunkOf = (value: unknown, data: string): OpenAiChunk => {
  const found = openAiChunk.safeParse(value)
  if (!found.success) throw new ModelFault(notInProtocol)
  const chunk = found.data
  if (chunk.error !== undefined && chunk.error !== null) throw brokenOff(data)
  return chunk
}

type Delta = NonNullable<
  NonNullable<NonNullable<OpenAiChunk['choices']>[number]['delta']>['tool_calls']
>[number]

/** Assembles tool calls from their pieces, by index. */
const assembly = () => {
  const calls: ToolCall[] = []
  const place = new Map<number, number>()
  return {
    add({ index, id, function: piece }: Delta, position: number): void {
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
        return { ...call, id: call.id || `call_${n}` }
      }),
  }
}

/** Counts tokens that the provider did not report. */
export type Count = (completion: string, calls: readonly ToolCall[]) => Promise<Usage>

/** The events of a model, from the data of its event stream. */
export const openAiAnswer = (data: Observable<string>, count: Count): Observable<ModelEvent> =>
  new Observable((subscriber) => {
    let text = ''
    let reason: FinishReason | undefined
    let refused = false
    let usage: Usage | undefined
    const calls = assembly()

    const say = (content: string): void => {
      text += content
      subscriber.next({ type: 'text', text: content })
    }

    const heard = (line: string): void => {
      const value = parsed(line)
      const plain = plainText(value)
      if (plain !== undefined) {
        if (plain !== '') say(plain)
        return
      }
      const chunk = chunkOf(value, line)
      if (chunk.usage) {
        const { prompt_tokens, completion_tokens } = chunk.usage
        usage = { promptTokens: prompt_tokens, completionTokens: completion_tokens }
      }
      const choice = chunk.choices?.[0]
      if (!choice) return
      if (choice.finish_reason) reason = finishReasonOf(choice.finish_reason)
      choice.delta?.tool_calls?.forEach(calls.add)
      if (choice.delta?.content) say(choice.delta.content)
      // What a model says in place of the answer that it refuses is said, and fits no format.
      if (choice.delta?.refusal) {
        refused = true
        say(choice.delta.refusal)
      }
    }

    const ended = (): void => {
      if (!reason) throw new ModelUnavailable('the model provider ended in mid-answer')
      const finishReason = refused ? 'content_filter' : reason
      const complete = calls.all()
      const done = (used: Usage) => {
        for (const call of complete) subscriber.next({ type: 'tool_call', call })
        subscriber.next({ type: 'done', finishReason, usage: used })
        subscriber.complete()
      }
      if (usage) done(usage)
      else count(text, complete).then(done, (error) => subscriber.error(error))
    }

    relayed(data, subscriber, { next: heard, complete: ended })
  })
