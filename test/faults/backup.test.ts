import { readFileSync, writeFileSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import t from 'tap'
import { contents, user } from '../support/client.ts'
import { superAdminKey } from '../support/platform.ts'
import { reprise } from '../support/reprise.ts'
import { rounds } from '../support/rounds.ts'
import { startServer } from '../support/server.ts'
import { expect } from '../support/under-attack.ts'

// Two lives of a server, and some processes beside them.
t.setTimeout(300_000)

const conversations = 16
/** Of a session. */
const turns = 20
/** Turns before the backup begins. */
const before = rounds(300, 5_000)

/** Conversations of many keys at once, until they are told to stop. */
const loaded = async ({ platform }: Pick<Awaited<ReturnType<typeof startServer>>, 'platform'>) => {
  const organization = await platform.organization({ credits: 1_000_000 })
  const answers: { key: string; session: string; question: string }[] = []
  let over = false
  const converse = async (name: string) => {
    for (let n = 0; !over; n++) {
      const key = await organization.key()
      for (let turn = 0; turn < turns && !over; turn++) {
        const [session_id, question] = [`${name}-${n}`, `Question ${turn} of ${name}`]
        expect(await key.chat({ messages: user(question), session_id }), 200)
        answers.push({ key: key.key, session: session_id, question })
      }
    }
  }
  const talks = Promise.all(Array.from({ length: conversations }, (_, n) => converse(`s${n}`)))
  talks.catch(() => undefined)
  return {
    organization,
    organizationId: organization.organizationId,
    answers,
    /** Rejects when a turn was not answered. */
    ended: talks,
    async stop() {
      over = true
      await talks
    },
  }
}

t.test('a backup amid chats has all that was answered before, and verifies', async (t) => {
  const folder = t.testdir({ data: {} })
  const DATA_DIR = join(folder, 'data')
  const [file, list, history, restored] = ['backup', 'e.jsonl', 'h.ndjson', 'restored'].map(
    (name) => join(folder, name),
  ) as [string, string, string, string]
  const env = { DATA_DIR, REPRISE_API_KEY: superAdminKey }
  const server = await startServer(t, { DATA_DIR })
  const load = await loaded(server)
  const { organizationId, answers } = load
  const partner = await load.organization.key({
    scopes: ['users:provision', 'users:delegate', 'orchestrator:invoke', 'sessions:delete'],
  })
  const users = '/api/external/management/users'
  const person = { email: 'ann@example.com', organization_id: organizationId }
  const { user_id } = (await partner.ask('POST', users, person)).body
  const secret = { messages: user('a secret'), session_id: 'hers', on_behalf_of: user_id }
  expect(await partner.chat(secret), 200)
  while (answers.length < before) await Promise.race([load.ended, after(20)])

  const exporting = `audit export --organization ${organizationId} --out ${history}`
  t.match(await reprise(`${exporting} --url ${server.url}`, env), { code: 0 })
  const header = readFileSync(history, 'utf8').split('\n', 1)[0] ?? ''
  const { key: vkey, checkpoint } = JSON.parse(header)
  writeFileSync(`${history}.checkpoint`, checkpoint)

  const known = [...answers]
  const backup = await reprise(`backup --out ${file}`, env)
  t.match(backup, { code: 0, out: /^position \d+\n$/ })
  t.ok(answers.length > known.length, 'chats went on meanwhile')
  await load.stop()
  t.match(await partner.ask('DELETE', `${users}/${user_id}/sessions/hers`), { status: 200 })
  const position = backup.out.replace(/\D/g, '')
  t.match(await reprise(`erasures --after ${position} --out ${list}`, env), { code: 0 })
  await server.stop()

  const done = await reprise(`restore --from ${file} --erasures ${list}`, { DATA_DIR: restored })
  t.match(done, { code: 0, err: /: 1 data keys, 0 files/ })
  t.match(done.out, new RegExp(`^position ${position}$`, 'm'))
  t.match(done.out, new RegExp(`^reprise/${organizationId} \\d+ .{44}$`, 'm'))
  await cp(join(DATA_DIR, 'master.key'), join(restored, 'master.key'))
  await server.restart({ DATA_DIR: restored })

  const sessions = new Map<string, { key: string; questions: string[] }>()
  for (const { key, session, question } of known) {
    const { questions } = sessions.get(session) ?? { questions: [] }
    sessions.set(session, { key, questions: [...questions, question] })
  }
  const lost: string[] = []
  for (const [session, { key, questions }] of sessions) {
    const texts = await contents(server.as(key), session)
    lost.push(...questions.filter((question) => !texts.includes(question)))
  }
  t.strictSame(lost, [], 'all that was answered before the backup began')

  const verifying = `audit verify ${history} --checkpoint ${history}.checkpoint --vkey ${vkey}`
  t.match(await reprise(`${verifying} --url ${server.url}`, env), {
    code: 0,
    out: /events that it serves are as it has signed them/,
  })
  const events = await reprise(
    `events --organization ${organizationId} --type UserMessageSent --json --url ${server.url}`,
    env,
  )
  t.notMatch(events.out, 'a secret')
  t.match(events.out, '"erased":true')
})
