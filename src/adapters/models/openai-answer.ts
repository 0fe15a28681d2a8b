import { concat, defer, from, map, mergeMap, type Observable, of } from 'rxjs'
import {
  type FinishReason,
  type ModelEvent,
  ModelFault,
  ModelUnavailable,
  type ToolCall,
  type Usage,
} from '../../ports/model.ts'
import { finishReasonOf, type OpenAiChunk, openAiChunk } from './openai-protocol.ts'
import { brokenOff } from './provider-failure.ts'

const chunkOf = (data: string): OpenAiChunk => {
  let chunk: OpenAiChunk
  try {
    chunk = openAiChunk.parse(JSON.parse(data))
  } catch {
    throw new ModelFault('the model provider sent a chunk that is not in its protocol')
  }
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
  defer(() => {
    let text = ''
    let reason: FinishReason | undefined
    let usage: Usage | undefined
    const calls = assembly()

    const heard = (line: string): ModelEvent[] => {
      const chunk = chunkOf(line)
      if (chunk.usage) {
        const { prompt_tokens, completion_tokens } = chunk.usage
        usage = { promptTokens: prompt_tokens, completionTokens: completion_tokens }
      }
      const choice = chunk.choices?.[0]
      if (!choice) return []
      if (choice.finish_reason) reason = finishReasonOf(choice.finish_reason)
      choice.delta?.tool_calls?.forEach(calls.add)
      const content = choice.delta?.content
      if (!content) return []
      text += content
      return [{ type: 'text', text: content }]
    }

    const ended = (): Observable<ModelEvent> => {
      if (!reason) throw new ModelUnavailable('the model provider ended in mid-answer')
      const finishReason = reason
      const complete = calls.all()
      const used = usage ? of(usage) : from(count(text, complete))
      return concat(
        from(complete.map((call): ModelEvent => ({ type: 'tool_call', call }))),
        used.pipe(map((counted): ModelEvent => ({ type: 'done', finishReason, usage: counted }))),
      )
    }

    return concat(data.pipe(mergeMap(heard)), defer(ended))
  })
