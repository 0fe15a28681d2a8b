import { connect } from 'node:net'
import { raw } from '../../support/raw.ts'
import { type Attack, expect } from '../../support/under-attack.ts'

const dropped = /^reprise_log_lines_dropped_total (\d+)$/m
const requests = 1_000
const request = `GET /api/health HTTP/1.1\r\nHost: a\r\nX-Request-Id: ${'x'.repeat(120)}\r\n\r\n`

/** A thousand requests on one connection, which the server may close during other floods. */
const flood = async (url: string): Promise<void> => {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.write(request.repeat(requests))
  let output = ''
  try {
    for await (const bytes of socket) {
      output += bytes
      if (output.split('HTTP/1.1 200').length > requests) break
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error
  }
}

/** Requests that are logged, while nobody reads what the process prints. */
export const stalledOutput: Attack = async (server) => async () => {
  const count = async () => {
    const { text } = expect(await raw(server.url)('/metrics'), 200)
    return Number(dropped.exec(text)?.[1])
  }
  const before = await count()
  const resume = server.stallOutput()
  try {
    while ((await count()) === before) await flood(server.url)
  } finally {
    resume()
  }
}
