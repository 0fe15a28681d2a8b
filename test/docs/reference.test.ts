import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import t from 'tap'
import { eventually } from '../support/eventually.ts'
import { exportsOf } from '../support/exports.ts'
import { blocksOf, guideFolder, scriptOf } from '../support/guides.ts'
import { contractOf, operationsOf } from '../support/open-api.ts'
import { superAdminKey } from '../support/platform.ts'
import { startServer } from '../support/server.ts'
import { toolServer } from '../support/tool-server.ts'

t.setTimeout(240_000)

const run = promisify(execFile)

const noCurl = spawnSync('curl', ['--version']).status === 0 ? {} : { skip: 'no curl here' }

const page = 'docs/reference.md'

/** Needs a server that died in a call. */
const inDoubt = 'POST /api/external/sessions/{session_id}/runs/{run_id}/tools/{tool_id}/outcome'

/** The calls that the page has, by its headings. */
const documented = () =>
  [...readFileSync(page, 'utf8').matchAll(/^### `([^`]+)`$/gm)].map(([, call = '']) => call)

/** The calls that a server has answered well, by its log. */
const successfulCalls = (log: string) => {
  const lines = log.split('\n').filter((line) => line.startsWith('{'))
  const all = lines.map((line) => JSON.parse(line)).filter(({ route }) => route)
  return new Set(
    all
      .filter(({ msg, status }) => msg === 'socket' || status < 300)
      .map(({ method = 'GET', route }) => `${method} ${route.replace(/:(\w+)/g, '{$1}')}`),
  )
}

t.test(
  'docs/reference.md has every call, and runs as printed on a fresh start',
  noCurl,
  async (t) => {
    const server = await startServer(t, { DEMO: 'on' })
    const operations = operationsOf(await contractOf(server.url))
    const calls = operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`)
    t.strictSame(documented().toSorted(), calls.toSorted())

    const env = {
      PATH: process.env.PATH ?? '',
      SUPER_ADMIN_KEY: superAdminKey,
      ...(await exportsOf(server)),
    }
    const { stdout, stderr, code } = await run('sh', ['-c', scriptOf(page)], {
      env,
      cwd: guideFolder(t),
      maxBuffer: 16 * 1024 * 1024,
    }).catch((error) => error)
    t.equal(code ?? 0, 0, `${stderr} ${String(stdout).slice(-600)}`)
    for (const printed of [/data: \[DONE\]/, /"type":"stream_complete"/, /We open at nine/])
      t.match(stdout, printed)
    await server.stop()
    const successes = successfulCalls(server.output())
    const others = calls.filter((call) => !successes.has(call))
    t.strictSame(others, [inDoubt], 'each call of the page was made, and answered')
  },
)

t.test('the outcome of a call in doubt is reported as printed', noCurl, async (t) => {
  const tools = await toolServer()
  t.teardown(tools.close)
  const server = await startServer(t, { API_CALL_ALLOW_HOSTS: '127.0.0.1' })
  const organization = await server.platform.organization()
  const model = await organization.agent({
    name: 'Shop',
    tools: [
      {
        type: 'api_call',
        name: 'refund',
        method: 'POST',
        url: `${tools.url}/refund`,
        parameters: { type: 'object', properties: { order: { type: 'string' } } },
        on_unknown: 'ask',
      },
    ],
  })
  const { key } = await organization.key({ type: 'user', user_id: organization.ownerId })
  const session_id = 'refunds'
  tools.hold('/refund')
  const messages = [{ role: 'user', content: 'refund order=4711' }]
  const cut = server.as(key).chat({ model, session_id, messages })
  await Promise.all([t.rejects(cut), tools.received('/refund', 1).then(server.kill9)])
  await server.restart()
  const [call] = await eventually(
    async () => (await server.as(key).status(session_id)).body.in_doubt,
  )

  const [command = ''] = blocksOf(page, 'bash')
  const { stdout } = await run('bash', ['-c', command], {
    env: {
      PATH: process.env.PATH ?? '',
      REPRISE_URL: server.url,
      REPRISE_API_KEY: key,
      SESSION: session_id,
      RUN: call.run_id,
      TOOL: call.tool_id,
    },
  })
  t.match(JSON.parse(stdout), { session_id, outcome: 'done' })
  const answer = await eventually(async () => {
    const { body } = await server
      .as(key)
      .ask('GET', `/api/external/sessions/${session_id}/messages`)
    return body.messages[1]
  })
  t.match(answer.content, /Refund 4711 was made/)
  t.equal(tools.timesOf('/refund'), 1, 'it is not made again')
})
