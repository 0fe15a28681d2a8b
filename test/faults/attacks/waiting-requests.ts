import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { raw } from '../../support/raw.ts'
import { rounds } from '../../support/rounds.ts'
import { type Attack, expect } from '../../support/under-attack.ts'

const connections = rounds(200, 800)
/** As much as one read brings, almost all of it requests of 18 bytes. */
const sent = [
  `${'GET /api/openapi.json HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(40)}${'GET / HTTP/1.1\r\n\r\n'.repeat(3_400)}`,
  'GET / HTTP/1.1\r\n\r\n'.repeat(3_600),
  'GET / HTTP/1.1\r\n\r\n'.repeat(64),
]
const dropped = /^reprise_buffers_dropped_total (\d+)$/m
const held = /^reprise_buffer_bytes (\d+)$/m
const mostBytes = 200 * 1_048_576

/** Requests without a key by the thousand, on connections by the hundred that read no answer. */
export const waitingRequests: Attack =
  async ({ url }) =>
  async () => {
    const count = async (pattern: RegExp) => {
      const { text } = expect(await raw(url)('/metrics'), 200)
      return Number(pattern.exec(text)?.[1])
    }
    const before = await count(dropped)
    const sockets: Socket[] = []
    try {
      for (let n = 0; n < connections; n++) {
        const socket = connect(Number(new URL(url).port), '127.0.0.1').pause()
        await once(socket, 'connect')
        socket.on('error', () => undefined)
        socket.write(sent[n % sent.length] ?? '')
        sockets.push(socket)
      }
      // Answers of others show that those of the sockets had their turns.
      for (let n = 0; n < 50; n++) expect(await raw(url)('/api/health'), 200)
      if ((await count(dropped)) === before) throw new Error('no connection was closed')
      const bytes = await count(held)
      if (bytes > mostBytes) throw new Error(`${bytes} bytes wait`)
    } finally {
      for (const socket of sockets) socket.destroy()
    }
  }
