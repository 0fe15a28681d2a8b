import type { ServerResponse } from 'node:http'
import t from 'tap'
import { deferred } from '../../src/support/deferred.ts'
import { mcpScene, toolNamed } from '../support/mcp-scene.ts'
import { oddMcpServer } from '../support/odd-mcp-server.ts'
import { resultOf } from '../support/tools.ts'
import { json } from '../support/web.ts'

t.test('a connection that is closed under a call ends after its answer', async (t) => {
  const arrival = deferred<void>()
  const answer = deferred<void>()
  const server = await oddMcpServer(t, {
    'tools/call': async ({ id }, response: ServerResponse) => {
      arrival.resolve()
      await answer.promise
      const result = { content: [{ type: 'text', text: 'done' }] }
      json(response, { jsonrpc: '2.0', id, result })
    },
  })
  const { mcp, toolsAt } = await mcpScene(t)
  const calling = resultOf(toolNamed(await toolsAt(server.url), 'good'), {})
  await arrival.promise
  await mcp.close()
  answer.resolve()
  t.match(await calling, { ok: true, content: 'done' })
})

t.test('a connection is used again after a call, and after a refusal of the server', async (t) => {
  let calls = 0
  const server = await oddMcpServer(t, {
    'tools/call': ({ id }, response: ServerResponse) => {
      const error = { code: -32602, message: 'not so' }
      const result = { content: [{ type: 'text', text: 'done' }] }
      json(response, { jsonrpc: '2.0', id, ...(++calls === 2 ? { error } : { result }) })
    },
  })
  const { toolsAt } = await mcpScene(t)
  const good = toolNamed(await toolsAt(server.url), 'good')
  t.match(await resultOf(good, {}), { ok: true })
  t.match(await resultOf(good, {}), { ok: false, content: /not so/ })
  t.match(await resultOf(toolNamed(await toolsAt(server.url), 'good'), {}), { ok: true })
  t.equal(server.count('initialize'), 1)
})
