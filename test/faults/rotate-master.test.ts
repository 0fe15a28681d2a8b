import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { masterKeyOf } from '../../src/app/master-key.ts'
import { openStores } from '../../src/app/stores.ts'
import { silent } from '../../src/ports/log.ts'
import { wrapOf } from '../../src/security/secrets.ts'
import { type Client, contents, user } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { fixedKeys } from '../support/fixed-keys.ts'
import { superAdminKey } from '../support/platform.ts'
import { reprise } from '../support/reprise.ts'
import { rounds } from '../support/rounds.ts'
import { startServer } from '../support/server.ts'

// Several lives of a server, each of some seconds.
t.setTimeout(300_000)

const path = '/api/admin/master-key/rotation'
const many = rounds(1_500, 5_000)
/** A key may ask 1,000 times a minute. */
const mostTurns = 100
const mostLooks = 20

const newKey = () => randomBytes(32).toString('base64')

/** Data keys of sessions of which nothing else is left. */
const seed = async (DATA_DIR: string, MASTER_KEY?: Uint8Array) => {
  const master = MASTER_KEY ?? (await masterKeyOf({ DATA_DIR, MASTER_KEY: undefined }))
  const { keys, close } = await openStores({ DATA_DIR }, silent)
  const { create } = fixedKeys(keys, wrapOf(master))
  await Promise.all(
    Array.from({ length: many }, (_, n) => create(`session:gone/${n}`, randomBytes(32))),
  )
  await close()
}

/** How many data keys this master key opens. */
const openedBy = async (DATA_DIR: string, master: string) => {
  const { keys, close } = await openStores({ DATA_DIR }, silent)
  const { get } = fixedKeys(keys, wrapOf(Buffer.from(master, 'base64')))
  let openedCount = 0
  let all = 0
  for (let after: string | undefined; ; ) {
    const piece = await keys.list(after, 500)
    after = piece.at(-1)?.name
    if (after === undefined) break
    const opened = await Promise.all(piece.map(({ name }) => get(name).catch(() => undefined)))
    openedCount += opened.filter(Boolean).length
    all += piece.length
  }
  await close()
  return { openedCount, all }
}

/** A tenant that chats in one session after another until the connection breaks. */
const chatting = (key: Client, round: string) => {
  const sessions: string[] = []
  let isActive = true
  const ask = async (): Promise<void> => {
    for (let n = 0; isActive && n < mostTurns; n++) {
      const session_id = `${round}-${n >> 1}`
      const answer = await key.chat({ messages: user(`${n}`), session_id }).catch(() => undefined)
      if (!answer) return
      if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
      sessions.push(session_id)
    }
  }
  const done = ask()
  return {
    /** Resolves when something was said. */
    begun: () => eventually(async () => sessions.length > 1),
    async stop() {
      isActive = false
      await done
      return sessions
    },
  }
}

const assertWhole = async (t: Test, key: Client, sessions: readonly string[]) => {
  for (const session of [...new Set(sessions)].slice(-mostLooks)) {
    const known = sessions.filter((id) => id === session).length
    const texts = await contents(key, session)
    t.ok(texts.length >= 2 * known, `${session}: ${texts.length} of ${2 * known}`)
    t.ok(texts.every((text: unknown) => typeof text === 'string' && text !== ''))
  }
}

t.test('a key that the operator keeps: kill -9 in the middle, a tenant chats on', async (t) => {
  const [old, next] = [newKey(), newKey()]
  const file = join(await mkdtemp(join(tmpdir(), 'reprise-')), 'next')
  t.teardown(() => rm(join(file, '..'), { recursive: true, force: true }))
  await writeFile(file, `${next}\n`)
  const server = await startServer(t, { MASTER_KEY: old })
  const rotate = () =>
    reprise(`keys rotate-master --new-key-file ${file} --url ${server.url}`, {
      SUPER_ADMIN_KEY: superAdminKey,
    })
  const organization = await server.platform.organization({ credits: 1_000 })
  const { key } = await organization.key()
  await server.stop()
  await seed(server.path, Buffer.from(old, 'base64'))

  const sessions: string[] = []
  for (let round = 0; round < rounds(2, 5); round++) {
    await server.restart({ MASTER_KEY: round % 2 ? next : old })
    const talk = chatting(server.as(key), `round-${round}`)
    await talk.begun()
    const admin = server.as(superAdminKey)
    t.match(await admin.ask('POST', path, { new_master_key: next }), { status: 202 })
    await server.kill9()
    sessions.push(...(await talk.stop()))
  }

  await server.restart({ MASTER_KEY: old })
  const talk = chatting(server.as(key), 'last')
  t.match(await rotate(), { code: 0, err: /Both master keys are accepted/ })
  sessions.push(...(await talk.stop()))
  await assertWhole(t, server.as(key), sessions)
  t.match(await server.as(superAdminKey).ask('GET', path), { body: { state: 'rewrapped' } })
  await server.stop()
  const { openedCount, all } = await openedBy(server.path, next)
  t.equal(openedCount, all, 'the new key opens every data key')
  t.ok(all > many)
  t.strictSame(await openedBy(server.path, old), { openedCount: 0, all })

  await server.restart({ MASTER_KEY: next })
  t.match(await rotate(), { code: 0, err: /the old one opens nothing/ })
  t.match(await rotate(), { code: 0, err: /the old one opens nothing/ }, 'done is done')
  await assertWhole(t, server.as(key), sessions)
  const output = server.output()
  for (const secret of [old, next]) t.notOk(output.includes(secret), 'no key is in the log')
  await server.stop()
  await t.rejects(server.restart({ MASTER_KEY: old }), { message: /WrongMasterKey: MASTER_KEY/ })
  await server.restart({ MASTER_KEY: next })
  await assertWhole(t, server.as(key), sessions.slice(-2))
})

t.test('a key in the data folder: kill -9 in the middle, then run again', async (t) => {
  const server = await startServer(t)
  const organization = await server.platform.organization({ credits: 1_000 })
  const { key } = await organization.key()
  await server.stop()
  await seed(server.path)
  const keyFile = join(server.path, 'master.key')
  const old = await readFile(keyFile, 'utf8')
  await server.restart()
  const talk = chatting(server.as(key), 'one')
  await talk.begun()
  t.match(await server.as(superAdminKey).ask('POST', path, {}), { status: 202 })
  await server.kill9()
  const sessions = await talk.stop()

  await server.restart()
  const rotated = await reprise(`keys rotate-master --url ${server.url}`, {
    SUPER_ADMIN_KEY: superAdminKey,
  })
  t.match(rotated, { code: 0, err: /the old one opens nothing/ })
  await assertWhole(t, server.as(key), sessions)
  await server.stop()
  const next = await readFile(keyFile, 'utf8')
  t.not(next, old)
  const { openedCount, all } = await openedBy(server.path, next)
  t.equal(openedCount, all)
  t.strictSame(await openedBy(server.path, old), { openedCount: 0, all })
  await writeFile(keyFile, old)
  await t.rejects(server.restart(), { message: /WrongMasterKey: MASTER_KEY/ })
  await writeFile(keyFile, next)
  await server.restart()
  await assertWhole(t, server.as(key), sessions)
})
