import { connect } from '../../support/socket.ts'
import { type Attack, expect } from '../../support/under-attack.ts'

/** Frames of 14 MB on sockets that have shown no key. */
export const strangersFrames: Attack =
  async ({ url }) =>
  async () => {
    const frame = Buffer.alloc(14 * 1_048_576, 'x')
    const sent = async () => {
      const { ws, closed } = await connect(url)
      ws.on('error', () => undefined)
      ws.send(frame, { binary: false })
      const { code } = await closed
      // 4401: on a busy machine the time for a key ends before the frame has arrived.
      expect({ status: code }, 1009, 1006, 4401)
    }
    await Promise.all(Array.from({ length: 8 }, sent))
  }
