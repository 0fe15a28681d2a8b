import { Refusal } from '../../domain/refusal.ts'
import { branchOrder } from '../../turns/run/branch-order.ts'
import type { LiveTurn } from '../../turns/turn.ts'
import { errorOf } from '../errors/bodies.ts'
import { defaultEcho, type ResponseEcho } from '../wire/response-echo.ts'
import {
  callsIn,
  hasMessage,
  outputMessageOf,
  type Progress,
  progressAt,
  responseOf,
} from '../wire/response-object.ts'
import { piecesOf } from './pieces.ts'

export type ResponseStream = {
  echo: ResponseEcho
  /** Only events with higher numbers are sent. */
  after?: number | undefined
  /** Each event has an `id:` line. */
  ids?: boolean
  /** The turn is told from what is stored: how its answer came in pieces is not known. */
  isPast?: boolean
  /** Only what there is by now. */
  untilNow?: boolean
}

/** Types of events at the end of a response, by how it ended. */
const endings = {
  completed: 'response.completed',
  incomplete: 'response.incomplete',
  // OpenAI has no event of its own for it; the response in it says that it was cancelled.
  cancelled: 'response.incomplete',
  failed: 'response.failed',
} as const

const lastItem = 'data: [DONE]\n\n'

/** How an earlier attempt, or what is past, was numbered is not known. */
const isNumberedAnew = ({ attempt = 1 }: LiveTurn, isPast: boolean): boolean =>
  isPast || attempt > 1

/**
 * The events of a response as text, each numbered from 0. Events that the client has already are
 * counted, and empty.
 */
const responseEvents = (
  turn: LiveTurn,
  { echo, after = -1, ids = false, isPast = false }: ResponseStream,
) => {
  const { runId } = turn
  const item_id = `msg_${runId}`
  const place = `"item_id":"${item_id}","output_index":0,"content_index":0`
  let number = 0
  /** The message has begun. */
  let hasBegun = false

  const numbered = (type: string, fields: () => string): string => {
    const n = number++
    if (n <= after) return ''
    const id = ids ? `id: ${n}\n` : ''
    return `event: ${type}\n${id}data: {"type":"${type}",${fields()},"sequence_number":${n}}\n\n`
  }
  const event = (type: string, fields: object): string =>
    numbered(type, () => JSON.stringify(fields).slice(1, -1))
  const response = (type: string, progress: Progress): string =>
    numbered(type, () => `"response":${JSON.stringify(responseOf(turn, progress, echo))}`)

  const beginMessage = (): string => {
    if (hasBegun) return ''
    hasBegun = true
    const item = { ...outputMessageOf(runId, '', 'in_progress'), content: [] }
    const [part] = outputMessageOf(runId, '', 'in_progress').content
    return (
      event('response.output_item.added', { output_index: 0, item }) +
      event('response.content_part.added', { item_id, output_index: 0, content_index: 0, part })
    )
  }

  const endMessage = (text: string, status: 'completed' | 'incomplete'): string => {
    if (!hasBegun) return ''
    const item = outputMessageOf(runId, text, status)
    const at = { item_id, output_index: 0, content_index: 0 }
    return (
      event('response.output_text.done', { ...at, text, logprobs: [] }) +
      event('response.content_part.done', { ...at, part: item.content[0] }) +
      event('response.output_item.done', { output_index: 0, item })
    )
  }

  const call = (item: ReturnType<typeof callsIn>[number], output_index: number): string => {
    const at = { item_id: item.id, output_index }
    const { name, arguments: args } = item
    const opening = { ...item, arguments: '', status: 'in_progress' }
    return [
      event('response.output_item.added', { output_index, item: opening }),
      ...piecesOf(args).map((delta) =>
        event('response.function_call_arguments.delta', { ...at, delta }),
      ),
      event('response.function_call_arguments.done', { ...at, name, arguments: args }),
      event('response.output_item.done', { output_index, item }),
    ].join('')
  }

  /** The client gets the end in any case. */
  const skipToEnd = (): void => {
    if (isNumberedAnew(turn, isPast) && number <= after) number = after + 1
  }

  /** As OpenAI describes it, and in `error` as Open Responses does and as its SDKs raise it. */
  const failure = (refused: Refusal): string => {
    const error = { param: null, ...errorOf(refused) }
    const { code, message, param } = error
    return event('error', { code, message, param, error })
  }

  return {
    /** The number of events so far. */
    count: () => number,
    start(): string {
      const progress = { status: 'in_progress' } as const
      return response('response.created', progress) + response('response.in_progress', progress)
    },
    delta(text: string): string {
      if (text === '') return ''
      const fields = () => `${place},"delta":${JSON.stringify(text)},"logprobs":[]`
      return beginMessage() + numbered('response.output_text.delta', fields)
    },
    failure,
    end(progress: Progress): string {
      if (!('done' in progress)) {
        skipToEnd()
        const error = 'refusal' in progress ? failure(progress.refusal) : ''
        return error + response(endings.failed, progress)
      }
      const { done, status } = progress
      const result = responseOf(turn, progress, echo)
      const opening = hasMessage(status, done) ? beginMessage() : ''
      if (done.text !== '' || status === 'cancelled') skipToEnd()
      const message = endMessage(
        done.text,
        result.status === 'completed' ? 'completed' : 'incomplete',
      )
      const firstCall = hasBegun ? 1 : 0
      const calls = callsIn(done).map((item, n) => call(item, n + firstCall))
      const ending = endings[result.status as keyof typeof endings]
      return opening + message + calls.join('') + response(ending, progress)
    },
  }
}

/**
 * A turn as OpenAI's events of a response (docs/contract/responses.md#streams). A turn in memory
 * always gives the same events, so that a client continues exactly where it was. A signal that
 * aborts with a refusal ends them with an `error`. `[DONE]` is the last item. The last value is the
 * number of events.
 */
export async function* responseFrames(
  turn: LiveTurn,
  stream: ResponseStream,
  signal?: AbortSignal,
): AsyncGenerator<string, number> {
  const { untilNow = false } = stream
  const events = responseEvents(turn, stream)
  const start = events.start()
  if (start !== '') yield start
  if (untilNow && turn.items.end() === 0) return events.count()
  const ordered = branchOrder()
  for await (const items of turn.items.follow(0, signal)) {
    let text = ''
    for (const item of items.flatMap(ordered))
      if (item.event === 'token') text += events.delta(item.text)
      else if (item.event === 'done' || item.event === 'failed')
        text += events.end(progressAt(await turn.outcome))
    if (text !== '') yield text
    if (untilNow) break
  }
  const { reason } = signal ?? {}
  if (reason instanceof Refusal) yield events.failure(reason)
  if (!untilNow) yield lastItem
  return events.count()
}

/** Whether a client can have come to the event with a number. */
export const mayHaveSeen = async (
  turn: LiveTurn,
  { after, isPast }: { after: number; isPast: boolean },
): Promise<boolean> => {
  if (isNumberedAnew(turn, isPast)) return true
  const none = { echo: defaultEcho, after: Number.MAX_SAFE_INTEGER, untilNow: true }
  const { value: count } = await responseFrames(turn, none).next()
  return after < Number(count)
}
