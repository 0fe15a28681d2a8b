import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import type { Answers } from '../../src/ports/answers.ts'

/** `reopen` closes the store and opens the same data again, where an adapter can. */
type OpenAnswers = (t: Test) => Promise<{ answers: Answers; reopen?: () => Promise<Answers> }>

const hour = 60 * 60 * 1000
const noon = new Date('2026-01-01T12:00:00.000Z')
const after = (ms: number) => new Date(noon.getTime() + ms)
const scopeOf = () => `key-1 POST /sessions ${randomUUID()}`
const answer = { status: 201, headers: { 'content-type': 'application/json' }, body: '{"ž":1}' }

/** What every store of first answers owes its callers. */
export const answersContract = (t: Test, open: OpenAnswers): void => {
  t.test('the first answer is given again', async (t) => {
    const { answers, reopen } = await open(t)
    const scope = scopeOf()
    t.strictSame(await answers.claim(scope, 'body', 'me', noon), { state: 'claimed' })
    t.strictSame(await answers.claim(scope, 'body', 'me', noon), { state: 'running' })
    await answers.complete(scope, 'me', answer, noon)
    const again = reopen ? await reopen() : answers
    t.strictSame(await again.claim(scope, 'body', 'me', after(hour)), { state: 'answered', answer })
  })

  t.test('a key is not for another body', async (t) => {
    const { answers } = await open(t)
    const scope = scopeOf()
    await answers.claim(scope, 'body', 'me', noon)
    t.strictSame(await answers.claim(scope, 'other', 'me', noon), { state: 'reused' })
    await answers.complete(scope, 'me', answer, noon)
    t.strictSame(await answers.claim(scope, 'other', 'me', noon), { state: 'reused' })
  })

  t.test('of many claims at once one runs', async (t) => {
    const { answers } = await open(t)
    const scope = scopeOf()
    const claims = await Promise.all(
      Array.from({ length: 20 }, () => answers.claim(scope, 'body', 'me', noon)),
    )
    t.equal(claims.filter(({ state }) => state === 'claimed').length, 1)
    t.equal(claims.filter(({ state }) => state === 'running').length, 19)
  })

  t.test('a released key may be used again', async (t) => {
    const { answers } = await open(t)
    const scope = scopeOf()
    await answers.claim(scope, 'body', 'me', noon)
    await answers.release(scope, 'me')
    t.strictSame(await answers.claim(scope, 'other', 'me', noon), { state: 'claimed' })
    await t.resolves(answers.release(scopeOf(), 'me'))
  })

  t.test('a claim that another has taken over is not ended by its first holder', async (t) => {
    const { answers } = await open(t)
    const scope = scopeOf()
    await answers.claim(scope, 'body', 'paused', noon)
    const takeover = { state: 'claimed', takenOver: true }
    t.strictSame(await answers.claim(scope, 'body', 'me', noon), takeover)
    await answers.release(scope, 'paused')
    t.strictSame(await answers.claim(scope, 'body', 'me', noon), { state: 'running' })
    await answers.complete(scope, 'paused', { ...answer, body: 'late' }, noon)
    t.strictSame(await answers.claim(scope, 'body', 'me', noon), { state: 'running' })
    await answers.complete(scope, 'me', answer, noon)
    t.strictSame(await answers.claim(scope, 'body', 'me', noon), { state: 'answered', answer })
  })

  t.test('answers are kept for 24 hours', async (t) => {
    const { answers } = await open(t)
    const [old, young] = [scopeOf(), scopeOf()]
    await answers.claim(old, 'body', 'me', noon)
    await answers.complete(old, 'me', answer, noon)
    await answers.claim(young, 'body', 'me', after(hour))
    await answers.complete(young, 'me', answer, after(hour))
    const late = after(24 * hour - 1)
    t.match(await answers.claim(old, 'body', 'me', late), { state: 'answered' })
    t.ok((await answers.sweep(after(24 * hour))) >= 1)
    t.match(await answers.claim(young, 'body', 'me', after(24 * hour)), { state: 'answered' })
    t.strictSame(await answers.claim(old, 'other', 'me', after(24 * hour)), { state: 'claimed' })
    const unswept = after(25 * hour)
    t.strictSame(await answers.claim(young, 'other', 'me', unswept), { state: 'claimed' })
  })
}
