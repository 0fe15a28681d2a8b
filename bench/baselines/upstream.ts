import { createServer } from 'node:http'

/** An OpenAI-compatible provider that answers every request at once with 20 tokens. */
const tokens = Array.from({ length: 20 }, (_, n) => `token${n} `)
const head = '{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"mock"'
const chunk = (delta: object, finish: string | null) =>
  `data: ${head},"choices":[{"index":0,"delta":${JSON.stringify(delta)},"finish_reason":${JSON.stringify(finish)}}]}\n\n`
const usage = `data: ${head},"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":20,"total_tokens":40}}\n\n`
const answer = Buffer.from(
  [
    chunk({ role: 'assistant', content: '' }, null),
    ...tokens.map((content) => chunk({ content }, null)),
    chunk({}, 'stop'),
    usage,
    'data: [DONE]\n\n',
  ].join(''),
)

createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(answer)
  })
}).listen(Number(process.env.PORT), '127.0.0.1')
process.on('SIGTERM', () => process.exit(0))
