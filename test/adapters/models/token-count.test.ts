import t from 'tap'
import { countedUsage } from '../../../src/adapters/models/token-count.ts'

const prose = 'The quick brown fox jumps over the lazy dog. '

const counted = (content: string, completion = '') =>
  countedUsage({ model: 'a', messages: [{ role: 'user', content }] }, completion, [])

t.test('a short text is counted', async (t) => {
  t.strictSame(await counted(prose, 'Hello world'), { promptTokens: 4 + 11, completionTokens: 2 })
})

t.test('a long text is estimated by its beginning, always alike', async (t) => {
  const { promptTokens: short } = await counted(prose.repeat(20))
  const { promptTokens: long } = await counted(prose.repeat(20_000))
  t.ok(Math.abs(long / (short * 1_000) - 1) < 0.03, `${long} for a thousand times ${short}`)
  t.equal((await counted(prose.repeat(20_000))).promptTokens, long)
  const { completionTokens } = await counted('', prose.repeat(20_000))
  t.ok(Math.abs(completionTokens / long - 1) < 0.03)
})

t.test('of a large prompt, 4,096 characters are given to the tokenizer', async (t) => {
  // On all of it the tokenizer would take minutes: every run is as long as it is given.
  const hard = `${'漢字仮名交文日本語処理'.repeat(40)} `.repeat(2_000)
  const messages = Array.from({ length: 4 }, () => ({ role: 'system' as const, content: hard }))
  const { promptTokens } = await countedUsage({ model: 'a', messages }, hard, [])
  t.ok(promptTokens > (hard.length * 4) / 4)
})
