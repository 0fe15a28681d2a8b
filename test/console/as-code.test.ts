import { spawnSync } from 'node:child_process'
import t from 'tap'
import { asCode, pythonOf } from '../../console/src/api/as-code.ts'

const origin = 'https://reprise.example'
const chat = {
  method: 'POST',
  url: '/api/external/v1/chat/completions',
  body: { messages: [{ role: 'user', content: 'It’s "tea"\nat four' }], stream: true, n: null },
  isStream: true,
}

t.test('writes a streamed call for Python', async (t) => {
  t.equal(
    asCode('python', chat, origin),
    `import os
import requests

reply = requests.post(
    "https://reprise.example/api/external/v1/chat/completions",
    headers={"X-API-Key": os.environ["REPRISE_API_KEY"]},
    json={
        "messages": [
            {
                "role": "user",
                "content": "It’s \\"tea\\"\\nat four",
            },
        ],
        "stream": True,
        "n": None,
    },
    stream=True,
)
reply.raise_for_status()
for line in reply.iter_lines(decode_unicode=True):
    if line.startswith("data: {"):
        print(line.removeprefix("data: "))`,
  )
})

t.test('writes a read for Python', async (t) => {
  t.equal(
    asCode('python', { url: '/api/external/agents' }, origin),
    `import os
import requests

reply = requests.get(
    "https://reprise.example/api/external/agents",
    headers={"X-API-Key": os.environ["REPRISE_API_KEY"]},
)
reply.raise_for_status()
print(reply.json())`,
  )
})

t.test('writes a streamed call for TypeScript', async (t) => {
  t.equal(
    asCode('typescript', { ...chat, body: { stream: true } }, origin),
    `const reply = await fetch("https://reprise.example/api/external/v1/chat/completions", {
  method: "POST",
  headers: {
    'X-API-Key': process.env.REPRISE_API_KEY!,
    'Content-Type': 'application/json',
  },
  body: JSON.stringify({
    "stream": true
  }),
})
if (!reply.ok) throw new Error(\`\${reply.status}: \${await reply.text()}\`)
let rest = ''
for await (const text of reply.body!.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + text).split('\\n')
  rest = lines.pop() ?? ''
  for (const line of lines)
    if (line.startsWith('data: {')) console.log(JSON.parse(line.slice(6)))
}`,
  )
})

t.test('writes a streamed call for curl without a buffer', async (t) => {
  t.match(asCode('curl', chat, origin), /^curl -N -X POST /)
})

t.test('writes values that Python reads as the same JSON', async (t) => {
  const hasPython = spawnSync('python3', ['--version']).status === 0
  if (!hasPython) return t.pass('there is no python3')
  const value = {
    a: [true, false, null, 1.5, -2e9, ''],
    'b"\\': { c: '\u2028\n\t💡' },
    d: [],
    e: {},
  }
  const { stdout, stderr } = spawnSync(
    'python3',
    ['-c', `import json; print(json.dumps(${pythonOf(value)}))`],
    { encoding: 'utf8', env: { ...process.env, PYTHONIOENCODING: 'utf8' } },
  )
  t.equal(stderr, '')
  t.strictSame(JSON.parse(stdout), value)
})
