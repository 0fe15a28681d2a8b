import type { Call } from '../ports/call.ts'
import { credentialsIn } from './credential-headers.ts'
import type { McpServer } from './mcp-place.ts'

/** Asked at once, and waiting for that; of more, the standing is found when they are used. */
const atOnce = 2
const mostWaiting = 100

/**
 * Asks servers in the background once they are configured, so that an operator sees early what
 * fails. Servers that need a user's credentials are not asked. `ask` never rejects.
 */
export const mcpChecks = (ask: (server: McpServer, call: Call) => unknown) => {
  const waiting: (() => unknown)[] = []
  let running = 0

  const go = async (): Promise<void> => {
    if (running === atOnce) return
    running++
    for (let task = waiting.shift(); task; task = waiting.shift()) await task()
    running--
  }

  return {
    check(servers: readonly McpServer[], call: Call): void {
      for (const server of servers) {
        if (waiting.length >= mostWaiting || credentialsIn(server.headers).length > 0) continue
        waiting.push(() => ask(server, call))
        void go()
      }
    },
    close(): void {
      waiting.length = 0
    },
  }
}
