import t, { type Test } from 'tap'
import type { SessionEvent } from '../../../src/domain/session/events.ts'
import { mostForked } from '../../../src/domain/session/fork.ts'
import { sessionStream } from '../../../src/domain/session/session.ts'
import { sessionKey } from '../../../src/security/vault.ts'
import { type ForkRequest, forkSessions } from '../../../src/turns/fork/fork-sessions.ts'
import { commanded } from '../../support/commanded.ts'
import { call } from '../../support/recorded.ts'

const viewer = { userId: 'user-1', onlyKeyId: null }
const request = (change: Partial<ForkRequest> = {}): ForkRequest => ({
  viewer,
  sessionId: 'source',
  at: { after: null },
  forkSessionId: 'fork',
  ...change,
})

/** A session of so many messages, and what forks it. */
const scene = async (t: Test, count: number, sizeOf: (n: number) => number = () => 1) => {
  const stores = await commanded(t)
  const { vault, transact, forkSession, store, read: views, seen } = stores
  const key = await vault.keyed(sessionKey('org-1', 'source'))
  const texts = Array.from({ length: count }, (_, n) => `${n} `.padEnd(sizeOf(n), 'x'))
  const messages = texts.map(
    (text, n): SessionEvent => ({
      type: 'UserMessageSent',
      data: { messageId: `message-${n}`, runId: `run-${n}`, content: key.seal(text) },
    }),
  )
  const created: SessionEvent = {
    type: 'SessionCreated',
    data: { userId: 'user-1', keyId: 'key-1', hidden: false },
  }
  const source = sessionStream('org-1', 'source')
  await transact(source, () => [created], call)
  for (let n = 0; n < count; n += 100)
    await transact(source, () => messages.slice(n, n + 100), call)
  /** Told before each append of a fork; may throw, as a process that dies. */
  let before = async (_at: number): Promise<void> => undefined
  const appends: number[] = []
  const forks = forkSessions({
    ...stores,
    read: store.read,
    forkSession: async (piece, by) => {
      await before(piece.at)
      appends.push(piece.messages.length)
      return forkSession(piece, by)
    },
    node: 'node-1',
  })
  return {
    ...stores,
    ...forks,
    texts,
    appends,
    beforeAppend: (act: typeof before) => {
      before = act
    },
    /** The texts of a session as its view has them; undefined: there is none. */
    async textsOf(sessionId: string) {
      await seen()
      if (!(await views.sessions.get(`org-1/${sessionId}`))) return undefined
      const { items } = await views.messages.find({
        index: 'by_session',
        equals: ['org-1', sessionId],
        limit: 20_000,
      })
      return Promise.all(items.map(({ content }) => vault.open(content)))
    },
    async half() {
      await seen()
      return views.forks.get('org-1/fork')
    },
  }
}

class Died extends Error {
  override readonly name = 'Died'
}

t.test('a long session is copied in pieces', async (t) => {
  const { fork, textsOf, texts, appends, half } = await scene(t, 1_000)
  await fork(request(), call)
  t.equal(appends.length, Math.ceil(1_000 / 64))
  t.strictSame(await textsOf('fork'), texts)
  t.equal(await half(), undefined)
})

t.test('large messages are copied alone', async (t) => {
  const { fork, appends, textsOf, texts } = await scene(t, 5, (n) => (n === 2 ? 1 : 60_000))
  await fork(request(), call)
  t.strictSame(appends, [1, 2, 1, 1])
  t.strictSame(await textsOf('fork'), texts)
})

t.test('a fork that was cut off is invisible, and is finished', async (t) => {
  const { fork, finish, textsOf, texts, beforeAppend, half, load } = await scene(t, 200)
  beforeAppend(async (at) => {
    if (at === 128) throw new Died()
  })
  await t.rejects(fork(request(), call), Died)
  t.equal(await textsOf('fork'), undefined, 'invisible')
  const left = await half()
  t.match(left, { session_id: 'fork', messages: 200, node: 'node-1' })
  t.match((await load(sessionStream('org-1', 'fork'))).state, { fork: { copied: 128 } })
  await t.rejects(fork(request(), call), { code: 'session_exists' }, 'its id is taken')
  beforeAppend(async () => undefined)
  if (left) await finish(left)
  t.strictSame(await textsOf('fork'), texts, 'each message once, in order')
  t.equal(await half(), undefined)
  if (left) await finish(left)
  t.strictSame(await textsOf('fork'), texts, 'finishing it again changes nothing')
})

t.test('the same request again goes on where it was cut off', async (t) => {
  const { fork, textsOf, texts, beforeAppend, transact, vault } = await scene(t, 200)
  const scoped = { ...call, scope: 'scope-1' }
  beforeAppend(async (at) => {
    if (at === 64) throw new Died()
  })
  await t.rejects(fork(request({ forkSessionId: undefined }), scoped), Died)
  beforeAppend(async () => undefined)
  const later: SessionEvent = {
    type: 'UserMessageSent',
    data: {
      messageId: 'later',
      runId: 'later',
      content: await vault.seal(sessionKey('org-1', 'source'), 'later'),
    },
  }
  await transact(sessionStream('org-1', 'source'), () => [later], call)
  const first = await fork(request({ forkSessionId: undefined }), scoped)
  t.strictSame(await textsOf(first.sessionId), texts, 'as the session was at first')
  const { position: _, ...again } = await fork(request({ forkSessionId: undefined }), scoped)
  t.match(first, again)
})

t.test('half a fork is erased where its source was erased meanwhile', async (t) => {
  const { fork, finish, textsOf, beforeAppend, half, eraseSession, load } = await scene(t, 200)
  beforeAppend(async (at) => {
    if (at === 64) throw new Died()
  })
  await t.rejects(fork(request(), call), Died)
  const left = await half()
  beforeAppend(async () => undefined)
  await eraseSession({ sessionId: 'source', userId: 'user-1' }, call)
  if (left) await finish(left)
  t.equal(await half(), undefined)
  t.equal(await textsOf('fork'), undefined)
  t.match((await load(sessionStream('org-1', 'fork'))).state, { status: 'erased' })
})

t.test('erased in the middle: the fork, or what it is made of', async (t) => {
  for (const sessionId of ['source', 'fork']) {
    const { fork, textsOf, beforeAppend, half, eraseSession, load } = await scene(t, 200)
    beforeAppend(async (at) => {
      if (at === 64) await eraseSession({ sessionId, userId: 'user-1' }, call)
    })
    await t.rejects(fork(request(), call), { code: 'session_not_found' }, sessionId)
    t.equal(await textsOf('fork'), undefined)
    t.equal(await half(), undefined)
    t.match((await load(sessionStream('org-1', 'fork'))).state, { status: 'erased' })
  }
})

t.test('two that copy one fork at once copy each message once', async (t) => {
  const first = await scene(t, 300)
  const { fork, beforeAppend, half, textsOf, texts } = first
  let raced = false
  beforeAppend(async (at) => {
    if (at !== 64 || raced) return
    raced = true
    const left = await half()
    // Another process, that takes this one for dead.
    const other = forkSessions({ ...first, read: first.store.read, node: 'node-2' })
    if (left) await other.finish(left)
  })
  await fork(request(), call)
  t.ok(raced)
  t.strictSame(await textsOf('fork'), texts)
  t.equal(await half(), undefined)
})

t.test('more than a fork copies is refused before anything is stored', async (t) => {
  const { fork, textsOf, half, isUnderWay } = await scene(t, mostForked.messages + 1)
  await t.rejects(fork(request(), call), { code: 'payload_too_large' })
  t.equal(await textsOf('fork'), undefined)
  t.equal(await half(), undefined)
  const last = `message-${mostForked.messages - 1}`
  await fork(request({ at: { after: last } }), call)
  t.equal((await textsOf('fork'))?.length, mostForked.messages)
  t.notOk(isUnderWay('fork'))
})
