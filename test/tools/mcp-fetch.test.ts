import type { ServerResponse } from 'node:http'
import t from 'tap'
import { mcpScene, toolNamed } from '../support/mcp-scene.ts'
import { oddMcpServer } from '../support/odd-mcp-server.ts'
import { resultOf } from '../support/tools.ts'

const largest = 4_194_304

/** A result, padded to so many bytes of JSON. */
const padded =
  (bytes: number) =>
  ({ id }: { id?: number | string }, response: ServerResponse) => {
    const result = { content: [{ type: 'text', text: 'done' }] }
    const text = JSON.stringify({ jsonrpc: '2.0', id, result })
    response.writeHead(200, { 'content-type': 'application/json' }).end(text.padEnd(bytes))
  }

for (const [bytes, ok, content] of [
  [largest, true, 'done'],
  [largest + 1, false, /the answer is too large/],
] as const)
  t.test(
    `an answer of ${bytes} bytes is ${ok ? 'accepted' : 'refused as too large'}`,
    async (t) => {
      const server = await oddMcpServer(t, { 'tools/call': padded(bytes) })
      const { toolsAt } = await mcpScene(t)
      const good = toolNamed(await toolsAt(server.url), 'good')
      t.match(await resultOf(good, {}), { ok, content })
      t.match(await resultOf(good, {}), { ok, content }, 'so each time')
    },
  )

/** A result with a list of so many values, or so many levels, beside the text. */
const holding =
  (more: string) =>
  ({ id }: { id?: number | string }, response: ServerResponse) => {
    const text = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[{"type":"text","text":"done"}],"_meta":{"more":${more}}}}`
    response.writeHead(200, { 'content-type': 'application/json' }).end(text)
  }

const tooLarge = /the answer is too large/
for (const [title, more, fault] of [
  [
    '49,000 values is read, and refused as a result',
    JSON.stringify(Array(49_000).fill(0)),
    /2000 v/,
  ],
  ['51,000 values is not read', JSON.stringify(Array(51_000).fill(0)), tooLarge],
  [
    '60 more levels is read, and refused as a result',
    `${'['.repeat(60)}${']'.repeat(60)}`,
    /32 levels/,
  ],
  ['62 more levels is not read', `${'['.repeat(62)}${']'.repeat(62)}`, tooLarge],
] as const)
  t.test(`an answer with ${title}`, async (t) => {
    const server = await oddMcpServer(t, { 'tools/call': holding(more) })
    const { toolsAt } = await mcpScene(t)
    const good = toolNamed(await toolsAt(server.url), 'good')
    t.match(await resultOf(good, {}), { ok: false, content: fault })
  })
