import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { exportsOf } from '../support/exports.ts'
import { blocksOf, freePort, guideFolder, scriptOf } from '../support/guides.ts'
import { superAdminKey } from '../support/platform.ts'
import { startChat, startServer } from '../support/server.ts'

t.setTimeout(240_000)

const run = promisify(execFile)

const noCurl = spawnSync('curl', ['--version']).status === 0 ? {} : { skip: 'no curl here' }

/** What a page's commands print, among other things. */
const pages: Readonly<Record<string, readonly RegExp[]>> = {
  'docs/analytics.md': [
    /"read_model":"sessions"/,
    /^op,id,position,/m,
    /^data: \{"op":"upsert"/m,
    /"usage":\[\{"agent_id"/,
  ],
  'docs/guides/agent-team.md': [/data: \[DONE\]/, /^session team {2}of user/m, /Orders/],
  'docs/guides/documents.md': [/45 days/],
  'docs/guides/users.md': [/"session_id":"ada-1"/, /"url":"http/, /SHOP/],
  'docs/guides/stream.md': [/leave/],
  'docs/guides/tools.md': [/\\"pieces\\":12/, /monday: 9 to 18/, /^ok$/m],
  'docs/guides/approvals.md': [
    /^remember$/m,
    /my train leaves at 9:14/,
    /^openai: .*window seat/m,
    /^ai: .*tea at four/m,
  ],
  'docs/guides/structured.md': [/^\{"summary":".*4711.*\]\}$/m],
  'docs/guides/responses.md': [
    /move into the next year/,
    /note of the doctor/,
    /event: response\.completed/,
    /get_stock answered: 12 pieces/,
  ],
  'docs/guides/watch.md': [
    /"status":"ok"/,
    /^reprise_/m,
    /^Runs that ended/m,
    /RunStarted of trace 4bf92f3577b34da6a3ce929d0e0e4736/,
  ],
  'docs/guides/analyse.md': [/runs_in_all/],
  'docs/guides/production.md': [
    /^Hello from production$/m,
    /^sessions: 1 documents, as the log has them$/m,
    /^2$/m,
  ],
  'docs/runs-that-survive.md': [
    /^place_order answered: order 4711, placed\n1 placed\n1 placed$/m,
    /^orders-1$/m,
    /^0\.t\/1 {2}Buyer \(model\) would change$/m,
    /the answer is the same\n1 placed$/m,
  ],
  'docs/auditors.md': [
    /events in history\.ndjson/,
    /are as they were signed/,
    /it was found/,
    /session tour/,
  ],
}

const { PYTHON_CLIENTS: python, PATH = '' } = process.env

/** Whether there is DuckDB: its command line, or its package for Python in that one's place. */
const hasDuckDb = spawnSync('duckdb', ['--version']).status === 0 || Boolean(python)

/** Like DuckDB's command line: runs statements on a database and prints the rows of the last. */
const inPython = `import duckdb, sys
result = duckdb.connect(sys.argv[1]).execute(sys.argv[2])
print([column[0] for column in result.description], result.fetchall())
`

t.test('the guides run as printed, on a fresh start', noCurl, async (t) => {
  const port = await freePort()
  const production = await freePort()
  const shop = `127.0.0.1:${port}`
  const server = await startServer(t, { DEMO: 'on', API_CALL_ALLOW_HOSTS: shop })
  const exported = await exportsOf(server)
  const cwd = guideFolder(t)
  if (python) {
    mkdirSync(join(cwd, 'bin'))
    writeFileSync(join(cwd, 'sql.py'), inPython)
    const command = `#!/bin/sh\nexec '${python}' '${join(cwd, 'sql.py')}' "$@"\n`
    writeFileSync(join(cwd, 'bin/duckdb'), command, { mode: 0o755 })
  }
  const path = `${PATH}:${join(cwd, 'bin')}`
  const env = { PATH: path, SUPER_ADMIN_KEY: superAdminKey, ...exported }
  for (const [page, printed] of Object.entries(pages)) {
    const absent = page.endsWith('analyse.md') && !hasDuckDb && { skip: 'no DuckDB here' }
    await t.test(page, absent || {}, async (t) => {
      const script = scriptOf(page).replaceAll('127.0.0.1:4000', shop)
      const named = script
        .replace('.mjs 4000', `.mjs ${port}`)
        .replaceAll('3100', String(production))
      const { stdout, stderr, code } = await run('sh', ['-c', named], { env, cwd }).catch(
        (error) => error,
      )
      t.equal(code ?? 0, 0, `${page}: ${stderr} ${String(stdout).slice(-600)}`)
      for (const text of printed) t.match(stdout, text, `${page}: ${text}`)
    })
  }
})

/** Pages with a program in one of these languages, which prints this where all goes well. */
const programs = [
  { page: 'docs/guides/responses.md', language: 'js', printed: /28 days of paid leave/ },
  { page: 'docs/guides/structured.md', language: 'python', printed: /My parcel 4711 is late/ },
  { page: 'docs/contract/authentication.md', language: 'python', printed: /^/ },
] as const

const interpreters = { js: [process.execPath, '--input-type=module', '-e'], python: [python, '-c'] }

t.test('programs on the pages run as printed, with this server and its key', async (t) => {
  const server = await startServer(t, { DEMO: 'on' })
  const { REPRISE_URL = '', REPRISE_API_KEY = '' } = await exportsOf(server)
  for (const { page, language, printed } of programs) {
    const [command, ...args] = interpreters[language]
    const absent = command ? {} : { skip: 'PYTHON_CLIENTS names no Python with the packages' }
    await t.test(page, absent, async (t) => {
      const [program = ''] = blocksOf(page, language)
      const own = program
        .replace('http://127.0.0.1:3000', REPRISE_URL)
        .replace('svc_live_…', REPRISE_API_KEY)
      const { stdout } = await run(command ?? '', [...args, own].map(String))
      t.match(stdout, printed)
    })
  }
})

/** Guides with tests of their own: below, and in test/console/browser/guide.test.ts. */
const ownTests: ReadonlySet<string> = new Set(['model.md', 'console.md'])

t.test('every guide is run, and in the list', async (t) => {
  const list = readFileSync('docs/guides/README.md', 'utf8')
  for (const name of readdirSync('docs/guides').filter((file) => /^[a-z].*\.md$/.test(file))) {
    t.match(list, `(${name})`)
    t.ok(ownTests.has(name) || pages[`docs/guides/${name}`], name)
  }
})

/** Starts as docs/guides/model.md has them: the variables of each. */
const starts = () =>
  [...readFileSync('docs/guides/model.md', 'utf8').matchAll(/```sh\n(.*) npm start\n```/g)].map(
    ([, set = '']) =>
      Object.fromEntries([...set.matchAll(/(\w+)=(\S+)/g)].map(([, ...pair]) => pair)),
  )

t.test('every start with a model asks that model, with its key', async (t) => {
  t.equal(starts().length, 4)
  for (const { LLM_BASE_URL: _, LLM_API_KEY = '', LLM_MODEL = '' } of starts()) {
    const key: Record<string, string> = LLM_API_KEY === '' ? {} : { LLM_API_KEY: 'sk-1' }
    const { provider, key: client } = await startChat(
      t,
      { text: 'Hello from the model.' },
      {},
      {
        LLM_MODEL,
        ...key,
      },
    )
    const answer = await client.chat({ messages: [{ role: 'user', content: 'Hello' }] })
    t.match(
      answer.body,
      { choices: [{ message: { content: 'Hello from the model.' } }] },
      LLM_MODEL,
    )
    const [request] = provider.requests
    t.equal(request?.body.model, LLM_MODEL.replace('openai/', ''))
    t.equal(request?.headers.authorization, key.LLM_API_KEY && `Bearer ${key.LLM_API_KEY}`)
  }
})
