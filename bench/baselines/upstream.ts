import { createServer, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { setTimeout as after } from 'node:timers/promises'

/**
 * An OpenAI-compatible provider whose answers are told apart by the model that is asked: `model`
 * says 20 tokens at once; `stamped` says 50, one every 10 ms, each the microsecond at which it left;
 * `silent` says one and then nothing until its client goes away; one that begins with `calls-` calls
 * tools first. Who asks for no stream gets the 20 tokens as JSON. A GET, and a POST to `/tool`, are what
 * the tools ask for.
 */
const head = '{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"mock"'
const chunk = (delta: object, finish: string | null) =>
  `data: ${head},"choices":[{"index":0,"delta":${JSON.stringify(delta)},"finish_reason":${JSON.stringify(finish)}}]}\n\n`
const usage = `data: ${head},"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":20,"total_tokens":40}}\n\n`
const first = chunk({ role: 'assistant', content: '' }, null)
const last = `${chunk({}, 'stop')}${usage}data: [DONE]\n\n`
const tokens = Array.from({ length: 20 }, (_, n) => chunk({ content: `token${n} ` }, null))
const answer = Buffer.from([first, ...tokens, last].join(''))

const whole = JSON.stringify({
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
 * `calls-look.4-look.4-book.1` calls `look` four times in its first answer and in its second, `book` once in
 * its third, and then says 20 tokens. Which answer is asked for is told by those before.
 */
const callsOf = (model: string, messages: readonly { tool_calls?: unknown }[]): string => {
  const answered = messages.filter(({ tool_calls }) => tool_calls).length
  const [name, count] = model.split('-')[answered + 1]?.split('.') ?? []
  if (!name) return answer.toString()
  const calls = Array.from({ length: Number(count) }, (_, index) => ({
    index,
    id: `call-${answered}-${index}`,
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

type Asked = { model?: string; stream?: boolean; messages?: { tool_calls?: unknown }[] }

createServer(async (request, response) => {
  if (request.method === 'GET') return response.end('ok')
  const { model, stream, messages = [] } = (await json(request)) as Asked
  if (request.url === '/tool') return response.end('done')
  if (!stream) {
    response.writeHead(200, { 'content-type': 'application/json' })
    return response.end(whole)
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  if (model === 'stamped') await stamped(response)
  else if (model === 'silent') response.write(first + chunk({ content: 'wait' }, null))
  else if (model?.startsWith('calls-')) response.end(callsOf(model, messages))
  else response.end(answer)
  return undefined
}).listen(Number(process.env.PORT), '127.0.0.1')
process.on('SIGTERM', () => process.exit(0))
