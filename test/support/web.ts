import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

/** A request as it came, its body read. */
export type WebRequest = Pick<IncomingMessage, 'method' | 'url' | 'headers'> & { body: string }

type Answer = (request: WebRequest, response: ServerResponse) => void

/** An HTTP server on loopback that notes what it is asked; gone when the test ends. */
export const web = async (t: Test, answer: Answer) => {
  const requests: WebRequest[] = []
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const { method, url, headers } = request
    const incoming = { method, url, headers, body: Buffer.concat(parts).toString() }
    requests.push(incoming)
    answer(incoming, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  t.teardown(close)
  return {
    host: `127.0.0.1:${port}`,
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    close,
  }
}

export const json = (response: ServerResponse, body: unknown, status = 200, headers = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}
