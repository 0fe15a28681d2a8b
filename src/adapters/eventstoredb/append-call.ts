import { randomUUID } from 'node:crypto'
import { DeadlineExceededError, UnavailableError } from '@eventstore/db-client'
import type { BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import type { Appended } from '../../ports/event-store.ts'
import { correlationOf, outcomeOf } from './append-answer.ts'
import type { AppendRequest } from './append-request.ts'
import type { OpenedCall } from './channel.ts'
import { clientError } from './errors.ts'

type Waiting = {
  stream: string
  /** Its place among all that were sent on this call. */
  order: number
  sentAt: number
  resolve: (appended: Appended) => void
  reject: (error: unknown) => void
}

/** One call that carries many appends at once, until it ends. */
export type AppendCall = {
  /**
   * @throws what the server answers; DeadlineExceededError when it passes this append over;
   * what the call ended with, and then nobody knows whether the append is stored
   */
  send(request: AppendRequest): Promise<Appended>
  /** Takes no more; ends when what is under way is answered. */
  retire(): void
  end(error: Error): void
}

type Options = {
  /** How long the server may answer nothing while appends wait. */
  silenceMs: number
  /** Told once, when the call takes no more appends. */
  onOver: () => void
  /** Told once, when none is under way on it any more. */
  onEnd: () => void
}

export const appendCall = (
  opening: Promise<OpenedCall>,
  { silenceMs, onOver, onEnd }: Options,
): AppendCall => {
  const waiting = new Map<string, Waiting>()
  let timer: NodeJS.Timeout | undefined
  let sent = 0
  let lastAnswered = 0
  let lastAnswerAt = 0
  let retired = false
  let failure: Error | undefined

  const over = () => {
    if (!retired) onOver()
    retired = true
  }

  const end = (error: Error): void => {
    if (failure) return
    failure = error
    clearTimeout(timer)
    over()
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
    opening.then(
      ({ close }) => close(),
      () => undefined,
    )
    onEnd()
  }

  const endIfDone = () => {
    if (retired && waiting.size === 0) end(new UnavailableError(undefined, 'the call is over'))
  }

  const onAnswer = (answer: BatchAppendResp) => {
    const id = correlationOf(answer)
    const append = waiting.get(id)
    if (!append) return
    waiting.delete(id)
    lastAnswered = Math.max(lastAnswered, append.order)
    lastAnswerAt = performance.now()
    try {
      append.resolve(outcomeOf(answer, append.stream))
    } catch (error) {
      append.reject(error)
    }
    endIfDone()
  }

  /** A turn later than the timer, so that answers that have come by then count. */
  const watch = (ms: number): void => {
    timer ??= setTimeout(() => setImmediate(look), ms)
  }

  /**
   * The oldest append was passed over when a later one was answered: a server gives no answer to
   * ids that it is just writing. When none was answered, the server is silent.
   */
  const look = (): void => {
    timer = undefined
    const [first] = waiting
    if (!first || failure) return
    const [id, oldest] = first
    const now = performance.now()
    const late = new DeadlineExceededError(undefined, `no answer to an append in ${silenceMs} ms`)
    const passedOver = lastAnswered > oldest.order
    const quietSince = passedOver ? oldest.sentAt : Math.max(oldest.sentAt, lastAnswerAt)
    const left = quietSince + silenceMs - now
    if (left > 0) watch(left)
    else if (!passedOver) end(late)
    else {
      waiting.delete(id)
      oldest.reject(late)
      endIfDone()
      watch(0)
    }
  }

  opening.then(
    ({ call }) =>
      call
        .on('data', onAnswer)
        .on('error', (error: Error) => end(clientError(error)))
        .on('end', () => end(new UnavailableError(undefined, 'the server ended the call'))),
    end,
  )

  const send = async (request: AppendRequest): Promise<Appended> => {
    const opened = await opening.catch(() => undefined)
    if (failure || !opened) throw failure
    const id = randomUUID()
    return new Promise((resolve, reject) => {
      const sentAt = performance.now()
      waiting.set(id, { stream: request.stream, order: ++sent, sentAt, resolve, reject })
      opened.call.write(request.message(id))
      watch(silenceMs)
    })
  }

  const retire = () => {
    over()
    endIfDone()
  }

  return { send, retire, end }
}
