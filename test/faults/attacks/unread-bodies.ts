import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { rounds } from '../../support/rounds.ts'
import type { Attack } from '../../support/under-attack.ts'

const connections = rounds(80, 200)
const body = Buffer.alloc(9_900_000, ' ')
const head = (path: string) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 10000000\r\n\r\n`

/** Unfinished bodies of 10 MB without a key, for paths and methods that no route has. */
export const unreadBodies: Attack =
  async ({ url }) =>
  async () => {
    const sockets: Socket[] = []
    try {
      for (let n = 0; n < connections; n++) {
        const socket = connect(Number(new URL(url).port), '127.0.0.1')
        sockets.push(socket)
        socket.on('error', () => undefined)
        await once(socket, 'connect')
        socket.write(head(n % 2 === 0 ? '/unknown' : '/api/health'))
        await new Promise<void>((sent) => socket.write(body, () => sent()))
        // Answered without the rest of the body.
        const [answer] = socket.readableLength > 0 ? [socket.read()] : await once(socket, 'data')
        if (!/^HTTP\/1\.1 40[45] /.test(String(answer))) throw new Error(`answered ${answer}`)
      }
    } finally {
      for (const socket of sockets) socket.destroy()
    }
  }
