import type { Asker } from '../../security/delegate.ts'
import { isAnswered, type LiveTurn, refusalOf } from '../../turns/turn.ts'
import { type About, completeFrame, encode, stepFrame } from './codec.ts'
import type { SocketConnection } from './connection.ts'
import type { Outgoing } from './frames.ts'

/** A file as it was sent: its content in base64, unchecked. */
export type SentFile = {
  datastoreId: string
  filename: string
  content: string
  contentType: string | undefined
  onBehalfOf: string | undefined
}

/**
 * Stores a file, or rejects with the refusal. Resolves with the file's status from then on, which
 * ends when the file is completed or failed.
 */
export type Upload = (
  asker: Asker,
  file: SentFile,
) => Promise<AsyncIterable<Outgoing<'file_status'>>>

/**
 * Sends a turn to its end, as fast as the client reads; without the client the run continues.
 * @throws the refusal that the turn failed with, turn_cancelled
 */
export const sendTurn = async (
  connection: SocketConnection,
  liveTurn: LiveTurn,
  about: About,
): Promise<void> => {
  const turn = await liveTurn.started
  for await (const items of turn.items.follow(0, connection.gone))
    for (const item of items) {
      const frame = stepFrame(item, about)
      if (frame) connection.send(frame)
      await connection.room()
      if (connection.gone.aborted) return
    }
  if (connection.gone.aborted) return
  const outcome = await turn.outcome
  if (!isAnswered(outcome)) throw refusalOf(outcome)
  connection.send(completeFrame(outcome.done, about))
}

export const sendUpload = async (
  connection: SocketConnection,
  steps: AsyncIterable<Outgoing<'file_status'>>,
  about: About,
): Promise<void> => {
  for await (const step of steps) {
    if (connection.gone.aborted) return
    connection.send(encode('file_status', step, about))
    await connection.room()
  }
}
