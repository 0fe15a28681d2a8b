import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type ToolRequest = { method: string; path: string; headers: IncomingHttpHeaders }

/**
 * A server behind tools, on loopback: counts its requests, and answers by path. A held path gets no
 * answer.
 */
export const toolServer = async () => {
  const requests: ToolRequest[] = []
  const held = new Set<string>()
  const arrivals: { path: string; count: number; seen: () => void }[] = []
  const timesOf = (path: string) => requests.filter((request) => request.path === path).length

  const answer = (response: ServerResponse, path: string) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ done: path }))
  }

  const server = createServer((request, response) => {
    const { method = '', url: path = '', headers } = request
    request.resume()
    requests.push({ method, path, headers })
    for (const arrival of arrivals) if (timesOf(arrival.path) >= arrival.count) arrival.seen()
    if (!held.has(path)) answer(response, path)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    timesOf,
    /** From now on, requests for these paths get no answer. */
    hold(...paths: string[]) {
      for (const path of paths) held.add(path)
    },
    letGo: () => held.clear(),
    /** Resolves when a path was asked for so many times in all. */
    async received(path: string, count: number): Promise<void> {
      if (timesOf(path) >= count) return
      await new Promise<void>((seen) => arrivals.push({ path, count, seen }))
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
