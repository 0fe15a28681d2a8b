import { once } from 'node:events'
import { connect } from 'node:net'
import { raw } from '../../support/raw.ts'
import { type Attack, expect } from '../../support/under-attack.ts'

const dropped = /^reprise_log_lines_dropped_total (\d+)$/m
const requests = 1_000
const one = `GET /api/health HTTP/1.1\r\nHost: a\r\nX-Request-Id: ${'x'.repeat(120)}\r\n\r\n`

/** Requests that are logged, while nobody reads what the process prints. */
export const stalledOutput: Attack = async (server) => async () => {
  const count = async () => {
    const { text } = expect(await raw(server.url)('/metrics'), 200)
    return Number(dropped.exec(text)?.[1])
  }
  const before = await count()
  const resume = server.stallOutput()
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  try {
    await once(socket, 'connect')
    const answers = socket.iterator({ destroyOnReturn: false })
    while ((await count()) === before) {
      socket.write(one.repeat(requests))
      let answered = ''
      while (answered.split('HTTP/1.1 200').length <= requests)
        answered += (await answers.next()).value
    }
  } finally {
    socket.destroy()
    resume()
  }
}
