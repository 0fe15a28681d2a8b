import type { TurnDone } from '../../agents/agent-event.ts'
import { Refusal } from '../../domain/refusal.ts'
import { utf8Of, type Writing } from '../../support/utf8.ts'
import { failureCodeOf } from '../../turns/failure-code.ts'
import type { Had } from '../../turns/read/past-turn.ts'
import { pendingOf } from '../../turns/record/run-pause.ts'
import { branchOrder } from '../../turns/run/branch-order.ts'
import type { LiveTurn } from '../../turns/turn.ts'
import type { TurnItem } from '../../turns/turn-items.ts'
import { typeOf } from '../errors/refusal-table.ts'
import { type CutOff, cutOff, frame } from './sse.ts'

/** Where a client is in a stream: item, part of that item, and characters of the answer so far. */
export type StreamPlace = { item: number; part: number; characters: number }

export const beginning: StreamPlace = { item: 0, part: -1, characters: 0 }

const placePattern =
  /^(?<run>[A-Za-z0-9-]+)(?:_(?<attempt>\d{1,2}))?:(?<item>\d{1,9})\.(?<part>\d{1,6}):(?<characters>\d{1,9})$/

/** The run and the place that a `Last-Event-ID` names; undefined when it names none. */
export const streamPlaceOf = (
  lastEventId: unknown,
): { runId: string; attempt: number; place: StreamPlace } | undefined => {
  const {
    run,
    attempt = 1,
    item,
    part,
    characters,
  } = String(lastEventId).match(placePattern)?.groups ?? {}
  if (!run) return undefined
  const place = { item: Number(item), part: Number(part), characters: Number(characters) }
  return { runId: run, attempt: Number(attempt), place }
}

/**
 * For a turn that is read again from the event log, which has only the answer and the end: what a
 * client at a place already has, and the place to continue from.
 */
export const resumed = (place: StreamPlace): { had: Had; from: StreamPlace } => {
  const { item, part, characters } = place
  if (item === 0) return { had: { items: 0, characters: 0 }, from: place }
  if (part > 0)
    return { had: { items: item - 1, characters: Number.MAX_SAFE_INTEGER }, from: place }
  const from = part < 0 ? place : { ...place, item: item + 1, part: -1 }
  return { had: { items: item, characters }, from }
}

/**
 * How one kind of stream writes a turn. An item that it does not show is undefined, and still
 * counts in places.
 */
export type StreamFormat = {
  /** The first frame of a turn, behind `run_resumed` where a run goes on. */
  opening: string
  /** What stands before and after a token's text, which is JSON. */
  token: { before: string; after: string }
  end(done: TurnDone): readonly (string | undefined)[]
  lifecycle(event: Readonly<Record<string, unknown>>): string | undefined
  /** Branches of parallel agents come one after another; else their tokens mingle. */
  inBranchOrder: boolean
  /** A failure is the last frame, and the stream is cut off behind it. */
  closesOnError: boolean
}

/** The documented fields of a lifecycle event; undefined for other events. */
export const lifecycleOf = (item: TurnItem): Record<string, unknown> | undefined => {
  switch (item.event) {
    case 'agent_started': {
      const { event, agent, agent_type, depth, parent_agent, timestamp } = item
      return { event, agent, agent_type, depth, parent_agent, timestamp }
    }
    case 'agent_completed': {
      const { event, agent, duration_ms, answer, error, timestamp } = item
      const failed = error === undefined ? {} : { error_code: failureCodeOf(error) }
      return { event, agent, duration_ms, ok: answer !== null, ...failed, timestamp }
    }
    case 'tool_started': {
      const { event, tool_name, tool_id, agent_name } = item
      return { event, tool_name, tool_id, agent_name }
    }
    case 'tool_completed': {
      const { event, tool_name, tool_id, agent_name, ok } = item
      return { event, tool_name, tool_id, agent_name, ok }
    }
    case 'approval_required':
      return { event: item.event, ...pendingOf(item) }
    case 'agent_routing': {
      const { event, from_agent, to_agent, timestamp } = item
      return { event, from_agent, to_agent, timestamp }
    }
    case 'run_resumed':
    case 'token_agent':
    case 'payment_required':
      return item
    default:
      return undefined
  }
}

/** The frames before any item: at place 0, by their parts. */
const openingOf = (attempt: number, format: StreamFormat): readonly (string | undefined)[] =>
  attempt > 1
    ? [format.lifecycle({ event: 'run_resumed', attempt }), format.opening]
    : [format.opening]

const done = '[DONE]'

const failure = (code: string, message: string): string => {
  return JSON.stringify({ error: { message, type: typeOf(code), code } })
}

/** The frames of a failure. */
const failureParts = (code: string, message: string, { closesOnError }: StreamFormat) =>
  closesOnError ? [failure(code, message)] : [failure(code, message), done]

/**
 * All but tokens. Part 0 is for other items than the end, so that a place shows whether it is in
 * the end.
 */
const partsOf = (item: TurnItem, format: StreamFormat): readonly (string | undefined)[] => {
  if (item.event === 'done') return [undefined, ...format.end(item), done]
  if (item.event === 'failed') return [undefined, ...failureParts(item.code, item.message, format)]
  // It is in the opening.
  if (item.event === 'run_resumed') return []
  const event = lifecycleOf(item)
  return event ? [format.lifecycle(event)] : []
}

/** Writes the items of a turn as frames, from the place that a client has reached. */
const frameWriter = (run: string, attempt: number, format: StreamFormat, from: StreamPlace) => {
  let { item: n, part: after, characters } = from
  let failed = false
  /** The last place that was written. */
  let last = `${n}.${Math.max(0, after)}:${characters}`
  const framed = (place: string, data: string): string => {
    last = place
    return frame(`${run}:${place}`, data)
  }
  const beforePlace = Buffer.from(`id: ${run}:`)
  const beforeText = Buffer.from(`\ndata: ${format.token.before}`)
  const afterText = Buffer.from(`${format.token.after}\n\n`)

  const writeToken = (text: string, to: Writing): void => {
    if (after >= 0) return
    characters += text.length
    last = `${n}.0:${characters}`
    to.put(beforePlace)
    to.write(last)
    to.put(beforeText)
    to.json(text)
    to.put(afterText)
  }

  const writeParts = (item: Exclude<TurnItem, { event: 'token' }>, to: Writing): void => {
    if (item.event === 'failed') failed = true
    const parts = partsOf(item, format)
    for (let part = Math.max(0, after + 1); part < parts.length; part++) {
      const data = parts[part]
      if (data) to.write(framed(`${n}.${part}:${characters}`, data))
    }
  }

  return {
    /** The number of the next item. */
    next: () => n,
    hasFailed: () => failed,
    /** Place 0 is the opening; the turn's items follow it. */
    opening(): string {
      if (n > 0) return ''
      const frames = openingOf(attempt, format).map((data, part) =>
        part > after && data ? framed(`0.${part}:0`, data) : '',
      )
      n = 1
      after = -1
      return frames.join('')
    },
    write(item: TurnItem, to: Writing): void {
      if (item.event === 'token') writeToken(item.text, to)
      else writeParts(item, to)
      after = -1
      n++
    },
    /** The frames of a refusal, at the last place. */
    failure({ code, message }: Refusal): string {
      failed = true
      return failureParts(code, message, format)
        .map((data) => framed(last, data))
        .join('')
    },
  }
}

/**
 * A turn as SSE frames. Each frame's id names its place, and a turn always gives the same frames,
 * so that a client continues exactly where it was. A signal that aborts with a refusal ends them
 * with it, at the place that was reached. Tells whether the stream is cut off.
 */
export async function* turnFrames(
  { runId, items, attempt = 1 }: LiveTurn,
  format: StreamFormat,
  from: StreamPlace,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, CutOff | undefined> {
  const run = attempt > 1 ? `${runId}_${attempt}` : runId
  const frames = frameWriter(run, attempt, format, from)
  let opening = frames.opening()
  const first = frames.next()
  // Earlier items are put in order too: places are those in the order that was sent.
  let at = format.inBranchOrder ? items.first + 1 : first
  const ordered = format.inBranchOrder ? branchOrder() : undefined

  // The opening is sent with the first items, where they are there already.
  if (opening !== '' && items.end() < at) {
    yield Buffer.from(opening)
    opening = ''
  }
  for await (const batch of items.follow(at - 1, signal)) {
    const bytes = utf8Of((to) => {
      to.write(opening)
      for (const item of ordered ? batch.flatMap(ordered) : batch)
        if (at++ >= frames.next()) frames.write(item, to)
    })
    opening = ''
    if (bytes.length > 0) yield bytes
  }
  const { reason } = signal ?? {}
  if (reason instanceof Refusal) yield Buffer.from(opening + frames.failure(reason))
  return frames.hasFailed() && format.closesOnError ? cutOff : undefined
}
