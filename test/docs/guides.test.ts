import { execFile, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { exportsOf } from '../support/exports.ts'
import { superAdminKey } from '../support/platform.ts'
import { startChat, startServer } from '../support/server.ts'

t.setTimeout(240_000)

const run = promisify(execFile)

const noCurl = spawnSync('curl', ['--version']).status === 0 ? {} : { skip: 'no curl here' }

/** The commands of a page, in order; one that is refused ends them. */
const scriptOf = (page: string): string => {
  const blocks = [...readFileSync(page, 'utf8').matchAll(/```sh\n(.*?)```/gs)]
  const commands = blocks.map(([, block = '']) => block)
  return ['set -eu', 'curl() { command curl --fail-with-body "$@"; }', ...commands].join('\n')
}

/** What a page's commands print, among other things. */
const pages: Readonly<Record<string, readonly RegExp[]>> = {
  'docs/guides/agent-team.md': [/data: \[DONE\]/, /^session team {2}of user/m, /Orders/],
  'docs/guides/documents.md': [/45 days/],
  'docs/guides/users.md': [/"session_id":"ada-1"/, /"url":"http/, /SHOP/],
  'docs/guides/stream.md': [/leave/],
  'docs/guides/tools.md': [/"name":"Stock"/, /weather\.example/],
  'docs/guides/watch.md': [/"status":"ok"/, /^reprise_/m],
  'docs/guides/production.md': [/"key":"svc_live_/],
  'docs/auditors.md': [
    /events in history\.ndjson/,
    /are as they were signed/,
    /it was found/,
    /session tour/,
  ],
}

t.test('the guides run as printed, on a fresh start', noCurl, async (t) => {
  const server = await startServer(t, { DEMO: 'on' })
  const exported = await exportsOf(server)
  const env = { PATH: process.env.PATH ?? '', SUPER_ADMIN_KEY: superAdminKey, ...exported }
  // The commands see the project's folder as it is, and leave their files elsewhere.
  const cwd = t.testdir()
  symlinkSync(join(process.cwd(), 'dist'), join(cwd, 'dist'))
  for (const [page, printed] of Object.entries(pages)) {
    const { stdout, stderr, code } = await run('sh', ['-c', scriptOf(page)], { env, cwd }).catch(
      (error) => error,
    )
    t.equal(code ?? 0, 0, `${page}: ${stderr} ${String(stdout).slice(-600)}`)
    for (const text of printed) t.ok(text.test(stdout), `${page}: ${text}`)
  }
})

t.test('every guide is run, and in the list', async (t) => {
  const list = readFileSync('docs/guides/README.md', 'utf8')
  for (const name of readdirSync('docs/guides').filter((one) => one !== 'README.md')) {
    t.match(list, `(${name})`)
    t.ok(name === 'model.md' || pages[`docs/guides/${name}`], name)
  }
})

/** Starts as docs/guides/model.md has them: the variables of each. */
const starts = () =>
  [...readFileSync('docs/guides/model.md', 'utf8').matchAll(/```sh\n(.*) npm start\n```/g)].map(
    ([, set = '']) =>
      Object.fromEntries([...set.matchAll(/(\w+)=(\S+)/g)].map(([, ...one]) => one)),
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
    const [asked] = provider.requests
    t.equal(asked?.body.model, LLM_MODEL.replace('openai/', ''))
    t.equal(asked?.headers.authorization, key.LLM_API_KEY && `Bearer ${key.LLM_API_KEY}`)
  }
})
