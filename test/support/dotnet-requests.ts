import { request } from 'node:http'
import { type Frame, framesOf } from './client.ts'

/** What stock clients of .NET send besides the body; none of them sends an `X-Stainless` header. */
export const dotnetClients = {
  OpenAI: { 'user-agent': 'OpenAI/2.15.0 (.NET 9.0.4; Debian GNU/Linux 12 (bookworm))' },
  'Semantic Kernel': {
    'user-agent': 'Semantic-Kernel OpenAI/2.15.0 (.NET 9.0.4; Debian GNU/Linux 12 (bookworm))',
    'semantic-kernel-version': '1.82.0.0',
  },
  Betalgo: {},
} as const

export type DotnetClient = keyof typeof dotnetClients

const completions = '/api/external/v1/chat/completions'

/** What came of a streamed answer, and whether the transfer was complete. */
export type Transfer = { status: number; frames: Frame[]; complete: boolean }

/** Asks for a streamed chat as a client of .NET does, with nothing of Node's own in it. */
export const dotnetStream = (
  url: string,
  key: string,
  name: DotnetClient,
  body: object,
  more: Record<string, string> = {},
): Promise<Transfer> =>
  new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${key}`,
      accept: 'text/event-stream, application/json',
      'content-type': 'application/json; charset=utf-8',
      ...dotnetClients[name],
      ...more,
    }
    const sent = request(new URL(completions, url), { method: 'POST', headers, agent: false })
    sent.on('error', reject)
    sent.on('response', async (reply) => {
      const parts: Buffer[] = []
      reply.on('data', (part: Buffer) => parts.push(part))
      reply.on('error', () => undefined)
      await new Promise((closed) => reply.once('close', closed))
      const frames: Frame[] = []
      async function* bytes() {
        yield* parts
      }
      for await (const frame of framesOf(bytes())) frames.push(frame)
      resolve({ status: reply.statusCode ?? 0, frames, complete: reply.complete })
    })
    sent.end(JSON.stringify({ stream: true, model: 'svc-orchestrator', ...body }))
  })
