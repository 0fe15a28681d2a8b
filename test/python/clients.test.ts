import { execFile } from 'node:child_process'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import type { Reply } from '../support/provider-double.ts'
import { startApp, startChat } from '../support/server.ts'

t.setTimeout(600_000)

/** A Python that has the packages of requirements.txt; `.ci/run` makes one. */
const { PYTHON_CLIENTS: python } = process.env
const absent = python ? {} : { skip: 'PYTHON_CLIENTS names no Python with the packages' }

const run = promisify(execFile)

/** Runs a script of this folder; each thing that it found right is a test of its own. */
const ran = async (t: Test, script: string, url: string, key: string) => {
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: t.testdirName,
    REPRISE_URL: url,
    REPRISE_API_KEY: key,
    // Compiled once for all scripts, and not in this folder.
    PYTHONPYCACHEPREFIX: join(dirname(python ?? ''), '..', 'pycache'),
    // What the packages would send or fetch elsewhere.
    OPENAI_AGENTS_DISABLE_TRACING: '1',
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    LANGSMITH_TRACING: 'false',
  }
  const file = `test/python/${script}.py`
  const { stdout, stderr, code } = await run(python ?? '', [file], { env }).catch((error) => error)
  for (const line of String(stdout).trim().split('\n'))
    if (line.startsWith('ok ')) t.pass(line.slice('ok '.length))
  t.equal(code ?? 0, 0, `${script}: ${stderr}`)
}

const offline = [
  'openai_offline',
  'openai_responses',
  'agents_chat',
  'agents_responses',
  'pydantic_ai_client',
  'instructor_client',
  'langchain_client',
  'litellm_client',
]

for (const script of offline)
  t.test(`python, offline model: ${script}`, absent, async (t) => {
    const server = await startApp(t)
    const { key } = await (await server.platform.organization()).key()
    await ran(t, script, server.url, key)
  })

const refusal = [
  { role: 'assistant', content: null, refusal: 'I cannot ' },
  { refusal: 'do that.' },
]
  .map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] }))
  .concat([{ choices: [{ index: 0, delta: { refusal: '' }, finish_reason: 'stop' as never }] }])
  .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)

t.test('python, scripted provider: openai_scripted', absent, async (t) => {
  const { server, key, provider } = await startChat(t)
  const replies: Reply[] = [
    { text: 'One two three.' },
    { raw: `${refusal.join('')}data: [DONE]\n\n` },
    { text: 'Half an answer', cutAfter: 2 },
    { status: 401 },
  ]
  provider.next(...replies)
  await ran(t, 'openai_scripted', server.url, key.key)
  t.equal(provider.requests.length, replies.length, 'nothing was asked for twice')
})

t.test('python, scripted provider: loops_scripted', absent, async (t) => {
  const { server, key, provider } = await startChat(t)
  const loop: Reply[] = [
    { calls: [{ name: 'get_weather', arguments: { city: 'Paris' } }] },
    { text: 'Paris: 18 degrees' },
  ]
  const person = (age: unknown): Reply => ({
    calls: [{ name: 'Person', arguments: { name: 'Ada', age } }],
  })
  provider.next(...loop, ...loop, ...loop, ...loop, person('unknown'), person(36))
  await ran(t, 'loops_scripted', server.url, key.key)
  t.equal(provider.requests.length, 10, 'each step was asked for once')
})

t.test('python, scripted provider: refusals_scripted', absent, async (t) => {
  const { server, key, provider } = await startChat(t)
  const refused: Reply = { raw: `${refusal.join('')}data: [DONE]\n\n` }
  const broken: Reply = { text: 'Half an answer', cutAfter: 2 }
  const each: Reply[] = [refused, broken, { status: 401 }]
  const replies = Array.from({ length: 7 }, () => each).flat()
  provider.next(...replies)
  await ran(t, 'refusals_scripted', server.url, key.key)
  t.equal(provider.requests.length, replies.length, 'nothing was asked for twice')
})
