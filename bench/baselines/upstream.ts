import { createServer, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { setTimeout as after } from 'node:timers/promises'

/**
 * An OpenAI-compatible provider, also the server of its tools. `model` sends 20 tokens at once;
 * `stamped` 50, one every 10 ms, each the microsecond of its sending; `silent` one, and waits until
 * its client disconnects. `calls-…` calls tools first.
 */
const head = '{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"mock"'
const chunk = (delta: object, finish: string | null) =>
  `data: ${head},"choices":[{"index":0,"delta":${JSON.stringify(delta)},"finish_reason":${JSON.stringify(finish)}}]}\n\n`
const usage = `data: ${head},"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":20,"total_tokens":40}}\n\n`
const first = chunk({ role: 'assistant', content: '' }, null)
const last = `${chunk({}, 'stop')}${usage}data: [DONE]\n\n`
const tokens = Array.from({ length: 20 }, (_, n) => chunk({ content: `token${n} ` }, null))
const answer = Buffer.from([first, ...tokens, last].join(''))

const completion = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'mock',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: Array.from({ length: 20 }, (_, n) => `token${n} `).join(''),
      },
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 20, completion_tokens: 20, total_tokens: 40 },
})

const stampedTokens = 50
const everyMs = 10

const stamped = async (response: ServerResponse): Promise<void> => {
  response.write(first)
  const start = performance.now()
  for (let n = 1; n <= stampedTokens; n++) {
    await after(Math.max(0, start + n * everyMs - performance.now()))
    const micros = Math.round((performance.timeOrigin + performance.now()) * 1_000)
    response.write(chunk({ content: `${micros} ` }, null))
  }
  response.end(last)
}

/**
 * `calls-look.4-look.4-book.1` calls `look` four times in its first two answers and `book` once in
 * its third; its fourth is 20 tokens. `messages` has the answers before.
 */
const callsOf = (model: string, messages: readonly { tool_calls?: unknown }[]): string => {
  const round = messages.filter(({ tool_calls }) => tool_calls).length
  const [name, count] = model.split('-')[round + 1]?.split('.') ?? []
  if (!name) return answer.toString()
  const calls = Array.from({ length: Number(count) }, (_, index) => ({
    index,
    id: `call-${round}-${index}`,
    type: 'function',
    function: { name, arguments: '{"order":"A-1"}' },
  }))
  return [
    first,
    chunk({ tool_calls: calls }, null),
    chunk({}, 'tool_calls'),
    usage,
    'data: [DONE]\n\n',
  ].join('')
}

type CompletionRequest = { model?: string; stream?: boolean; messages?: { tool_calls?: unknown }[] }

createServer(async (request, response) => {
  if (request.method === 'GET') return response.end('ok')
  const { model, stream, messages = [] } = (await json(request)) as CompletionRequest
  if (request.url === '/tool') return response.end('done')
  if (!stream) {
    response.writeHead(200, { 'content-type': 'application/json' })
    return response.end(completion)
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  if (model === 'stamped') await stamped(response)
  else if (model === 'silent') response.write(first + chunk({ content: 'wait' }, null))
  else if (model?.startsWith('calls-')) response.end(callsOf(model, messages))
  else response.end(answer)
  return undefined
}).listen(Number(process.env.PORT), '127.0.0.1')
process.on('SIGTERM', () => process.exit(0))
