import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { childrenOf } from '../support/children.ts'
import { user } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { superAdminKey } from '../support/platform.ts'
import { raw } from '../support/raw.ts'
import { rounds } from '../support/rounds.ts'
import { type StartedServer, startServer } from '../support/server.ts'
import { cutOff, randomNumbers, spoil } from '../support/spoiled.ts'

t.setTimeout(900_000)

const codes = ['store_damaged', 'service_unavailable']
const sessions = ['session-0', 'session-1', 'session-2']
/** Of a damaged file: the start that it kills, and the one that waits for the check. */
const mostDeaths = 3
const pageBytes = 4_096

type Organization = { key: string; id: string }
type Answers = Map<string, readonly string[]>

/** The folder of a stopped server with two organizations that have talked. */
const scene = async (t: Test) => {
  const folder = t.testdir()
  const server = await startServer(t, { DATA_DIR: folder })
  const organizations: Organization[] = []
  for (let n = 0; n < 2; n++) {
    const organization = await server.platform.organization()
    const { key } = await organization.key()
    for (let m = 0; m < 6; m++)
      await server.as(key).chat({ messages: user(`Hello ${m}`), session_id: sessions[m % 3] })
    organizations.push({ key, id: organization.organizationId })
  }
  const answers = (await askAll(t, server, organizations)).messages
  await server.stop()
  return { folder, organizations, answers }
}

/** Asks for everything. Looks at each refusal; an answer of messages is theirs. */
const askAll = async (t: Test, server: StartedServer, organizations: readonly Organization[]) => {
  const messages: Answers = new Map()
  let refused = 0
  const ask = async (path: string, key: string) => {
    const answer = await raw(server.url)(path, { headers: { 'x-api-key': key } })
    const { status, headers, body } = answer
    if (status === 200) return body
    refused++
    t.ok(status === 503 && codes.includes(`${headers['x-error-code']}`), `${path}: ${status}`)
    return undefined
  }
  for (const { key, id } of organizations) {
    for (const session of sessions) {
      const body = await ask(`/api/external/sessions/${session}/messages`, key)
      const texts = body?.messages.map((message: object) => JSON.stringify(message))
      if (texts) messages.set(`${id} ${session}`, texts)
    }
    await ask('/api/external/agents', key)
    const at = `/api/admin/organizations/${id}`
    for (const path of ['/audit/events?limit=500', '/members', '/agents', '/api-keys'])
      await ask(`${at}${path}`, superAdminKey)
  }
  return { messages, refused }
}

const isNamed = async (server: StartedServer): Promise<boolean> => {
  const { body } = await raw(server.url)('/api/health/ready')
  return body.checks.damage.ok === false
}

/**
 * Asks a server for everything, and starts it again as often as damage ends it, in another folder
 * where one is given. Undefined once a start names the damage.
 */
const askThroughRestarts = async (
  t: Test,
  server: StartedServer,
  organizations: readonly Organization[],
  moved: { DATA_DIR?: string } = {},
) => {
  for (let deaths = 0; deaths <= mostDeaths; deaths++) {
    try {
      return await askAll(t, server, organizations)
    } catch {}
    await server.kill9()
    try {
      await server.restart(moved)
    } catch (error) {
      const text = `${error}`
      if (!text.includes('(SIG')) {
        t.match(text, /\(exit code 3\)[\s\S]*\nStoreDamaged: .*data\.mdb.*restore a backup/)
        return undefined
      }
    }
  }
  throw new Error('it dies again and again')
}

/** What is answered is what was said, and all of it where no damage is named. */
const compare = (t: Test, actual: Answers, expected: Answers, isWhole: boolean) => {
  for (const [session, texts] of actual) {
    const wrong = texts.filter((text) => !expected.get(session)?.includes(text))
    t.strictSame(wrong, [], `${session}: nothing wrong`)
    if (isWhole) t.strictSame(texts, expected.get(session), `${session}: nothing is missing`)
  }
}

const harmed = (file: string, seed: number): string => {
  const random = randomNumbers(seed)
  if (seed % 4 === 0) return cutOff(file, random)
  return Array.from({ length: 3 }, () => spoil(file, random)).join(', ')
}

t.test('views that are damaged, served or stopped, are folded again without help', async (t) => {
  const { folder, organizations, answers } = await scene(t)
  const server = await startServer(t, { DATA_DIR: folder })
  for (let seed = 1; seed <= rounds(2, 24); seed++) {
    const isServed = seed % 2 === 0
    const name = seed % 3 === 0 ? 'views-later' : 'views'
    if (!isServed) await server.kill9()
    t.comment(`${isServed ? 'served' : 'stopped'}: ${harmed(join(folder, name, 'data.mdb'), seed)}`)
    if (!isServed) await server.restart()
    await eventually(
      async () => (await askThroughRestarts(t, server, organizations))?.refused === 0,
    )
    await server.kill9()
    await server.restart()
    const healed = await eventually(async () => {
      const now = await askThroughRestarts(t, server, organizations)
      return now?.refused === 0 && !(await isNamed(server)) ? now : undefined
    })
    compare(t, healed.messages, answers, true)
  }
})

t.test('a log that is damaged, served or stopped, is read rightly or named', async (t) => {
  const { folder, organizations, answers } = await scene(t)
  const killed = `${folder}-killed`
  cpSync(folder, killed, { recursive: true })
  t.teardown(() => rmSync(killed, { recursive: true, force: true }))
  const stopped = await startServer(t, { DATA_DIR: killed })
  await stopped.kill9()
  let named = 0
  for (let seed = 1; seed <= rounds(3, 40); seed++) {
    const DATA_DIR = `${folder}-${seed}`
    const isServed = seed % 2 === 0
    cpSync(isServed ? folder : killed, DATA_DIR, { recursive: true })
    t.teardown(() => rmSync(DATA_DIR, { recursive: true, force: true }))
    const server = isServed ? await startServer(t, { DATA_DIR }) : stopped
    t.comment(`${isServed ? 'served' : 'stopped'}: ${harmed(join(DATA_DIR, 'log/data.mdb'), seed)}`)
    const first = await askThroughRestarts(t, server, organizations, { DATA_DIR })
    if (first) {
      compare(t, first.messages, answers, !(await isNamed(server)))
      const [{ key }] = organizations as [Organization]
      await server
        .as(key)
        .chat({ messages: user('More'), session_id: 'new' })
        .catch(() => undefined)
      await server.kill9()
      await server.restart().catch(() => undefined)
    }
    const last = first && (await askThroughRestarts(t, server, organizations))
    if (last) {
      const isKnown = await isNamed(server)
      compare(t, last.messages, answers, !isKnown)
      t.ok(last.refused === 0 || isKnown, 'what is refused is named')
      if (isKnown) named++
    } else named++
    await server.kill9()
  }
  t.ok(named > 0)
})

t.test('kill -9 of a sound server: no damage is named', async (t) => {
  const { folder, organizations, answers } = await scene(t)
  const server = await startServer(t, { DATA_DIR: folder })
  for (let life = 0; life < rounds(2, 10); life++) {
    const [{ key }] = organizations as [Organization]
    const reply = server.as(key).chat({ messages: user('More'), session_id: `new-${life}` })
    await Promise.all([reply.catch(() => undefined), server.kill9()])
    await server.restart()
    const now = await askAll(t, server, organizations)
    t.equal(now.refused, 0)
    compare(t, now.messages, answers, true)
    t.notOk(await isNamed(server))
    t.notMatch(server.output(), /damaged|folded again/)
  }
})

t.test('damage that the check finds while the server runs ends it, with exit code 3', async (t) => {
  const { folder } = await scene(t)
  const server = await startServer(t, { DATA_DIR: folder })
  await server.kill9()
  // A start reads none of the first messages.
  const file = join(folder, 'log/data.mdb')
  const bytes = readFileSync(file)
  const page = Math.floor(bytes.indexOf('"RunStarted"') / pageBytes)
  writeFileSync(file, bytes.fill(0, page * pageBytes, (page + 1) * pageBytes))
  const restarted = server.restart()
  const walking = () => childrenOf(server.startingPid(), 'integrity-walk')
  const check = await new Promise<number>((resolve) => {
    const looking = setInterval(() => {
      const [pid] = walking()
      if (pid === undefined) return
      clearInterval(looking)
      process.kill(pid, 'SIGSTOP')
      resolve(pid)
    }, 1)
  })
  await restarted
  t.equal((await raw(server.url)('/api/health')).status, 200)
  process.kill(check, 'SIGCONT')
  t.equal(await server.ended(), 3)
  t.match(server.output(), /"msg":"the log of events is damaged\. Nothing was changed/)
  await t.rejects(server.restart(), { message: /\(exit code 3\)[\s\S]*\nStoreDamaged: / })
})
