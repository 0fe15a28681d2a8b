import { once } from 'node:events'
import { connect } from 'node:net'
import { raw } from '../../support/raw.ts'
import { rounds } from '../../support/rounds.ts'
import { type Attack, expect } from '../../support/under-attack.ts'

const requests = rounds(400, 1_300)
const paths = [
  '/api/openapi.json',
  '/api/openapi.json',
  '/api/openapi.json',
  '/docs/static/swagger-ui-bundle.js',
  '/docs/static/swagger-ui.css',
  '/metrics',
]

/** Requests without a key by the thousand, on connections that read no answer. */
export const unreadAnswers: Attack =
  async ({ url }) =>
  async () => {
    const sockets = []
    for (const path of paths) {
      const socket = connect(Number(new URL(url).port), '127.0.0.1').pause()
      await once(socket, 'connect')
      socket.on('error', () => undefined)
      socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(requests))
      sockets.push(socket)
    }
    // Answers of others show that those of the sockets had their turns.
    for (let n = 0; n < 50; n++) expect(await raw(url)('/api/openapi.json'), 200)
    for (const socket of sockets) socket.destroy()
  }
