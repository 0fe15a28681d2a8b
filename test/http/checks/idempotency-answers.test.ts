import { join } from 'node:path'
import { fastify } from 'fastify'
import t, { type Test } from 'tap'
import { embeddedAnswers } from '../../../src/adapters/embedded/answers.ts'
import { embeddedKeyStore } from '../../../src/adapters/embedded/key-store.ts'
import { openLog } from '../../../src/adapters/embedded/log.ts'
import { idempotency } from '../../../src/http/checks/idempotency.ts'
import type { Claim } from '../../../src/ports/answers.ts'
import type { Access } from '../../../src/security/access.ts'
import { wrapOf } from '../../../src/security/secrets.ts'
import { sessionKey, vault } from '../../../src/security/vault.ts'
import { fixedClock } from '../../support/agents.ts'
import { fixedKeys } from '../../support/fixed-keys.ts'
import { call } from '../../support/recorded.ts'

const access = { keyId: 'key-1', organizationId: 'org-1' } as Access

/** A server that stores answers of sessions; `during` runs while it handles a request. */
const storedAnswers = async (t: Test, during: (session: string) => Promise<void>) => {
  const log = await openLog({ path: join(t.testdir(), 'log') })
  const keys = embeddedKeyStore(log)
  const wrap = wrapOf(Buffer.alloc(32, 1))
  const uses = {
    vault: vault({ keys: fixedKeys(keys, wrap) }),
    answers: embeddedAnswers(log),
    clock: fixedClock(),
  }
  const http = fastify()
  t.teardown(async () => {
    await http.close()
    await log.close()
  })
  http.decorateRequest('access')
  http.decorateRequest('call')
  http.addHook('onRequest', async (request) => {
    request.access = access
    request.call = call
  })
  idempotency(http, { ...uses, node: 'me' })
  let runs = 0
  let replayed: unknown
  http.post<{ Params: { session: string } }>('/:session', async (request) => {
    const { session } = request.params
    request.answersFor = session
    request.onRepeated?.()
    await during(session)
    return { runs: ++runs }
  })
  const ask = async (session: string, key = session) => {
    const headers = { 'idempotency-key': key }
    const answer = await http.inject({ method: 'POST', url: `/${session}`, headers })
    const { statusCode, body } = answer
    replayed = answer.headers['idempotency-replayed']
    return { status: statusCode, body: JSON.parse(body) }
  }
  return { ...uses, ask, replayed: () => replayed }
}

t.test('an answer whose session is erased before it can be kept frees its key', async (t) => {
  const erased = new Set<string>()
  const { ask, vault } = await storedAnswers(t, async (session) => {
    if (!erased.has(session)) await vault.seal(sessionKey('org-1', session), 'a text')
    await vault.destroy(sessionKey('org-1', session))
    erased.add(session)
  })
  t.strictSame(await ask('one'), { status: 200, body: { runs: 1 } })
  t.strictSame(await ask('one'), { status: 200, body: { runs: 2 } }, 'and nobody waits for it')
})

t.test('an answer that cannot be kept frees its key', async (t) => {
  const { ask, answers } = await storedAnswers(t, async () => undefined)
  const { complete } = answers
  answers.complete = async () => {
    throw new Error('the disk is full')
  }
  t.match(await ask('one'), { status: 500 })
  answers.complete = complete
  t.strictSame(await ask('one'), { status: 200, body: { runs: 2 } })
  t.strictSame(await ask('one'), { status: 200, body: { runs: 2 } })
})

t.test(
  'a claim of a dead node is answered with Idempotency-Replayed, a first one not',
  async (t) => {
    const { ask, answers, replayed } = await storedAnswers(t, async () => undefined)
    t.match(await ask('one'), { status: 200 })
    t.equal(replayed(), undefined)
    answers.claim = async () => ({ state: 'claimed', takenOver: true })
    t.match(await ask('two'), { status: 200 })
    t.equal(replayed(), 'true')
  },
)

t.test('a repeated request looks for the first answer every 50 ms, not all the time', async (t) => {
  const { ask, answers } = await storedAnswers(t, async () => undefined)
  let state: Claim['state'] = 'running'
  let looks = 0
  answers.claim = async (): Promise<Claim> => {
    if (++looks > 100) throw new Error('it looks all the time')
    return state === 'running' ? { state } : { state: 'claimed' }
  }
  setTimeout(() => {
    state = 'claimed'
  }, 60)
  t.match(await ask('one'), { status: 200 })
  t.ok(looks <= 3, `${looks} looks`)
})

for (const [accepted, title, key] of [
  [true, 'of 255 characters', 'x'.repeat(255)],
  [true, 'of the first and last printable character', '!~'],
  [false, 'of 256 characters', 'x'.repeat(256)],
  [false, 'with a space', 'a b'],
] as const)
  t.test(`a key ${title} is ${accepted ? 'accepted' : 'refused: invalid_input'}`, async (t) => {
    const { ask } = await storedAnswers(t, async () => undefined)
    const { status, body } = await ask('one', key)
    if (accepted) t.match({ status, body }, { status: 200, body: { runs: 1 } })
    else t.match(body, { code: 'invalid_input' })
  })
