import t from 'tap'
import { type Erasure, together } from '../../src/domain/erasure.ts'

const part = (scope: Erasure['scope'], count: number, at: string): Erasure => ({
  deletedBy: `user-${count}`,
  delegated: count > 1,
  destroyedAt: at,
  scope,
  memories: count,
  credentials: 10 * count,
  keyIds: [`key-${count}`],
})

t.test('a certificate for several erasures has all scopes and keys, and the sums', async (t) => {
  const parts = [
    part(['memories'], 1, '2026-01-01'),
    part(['credentials', 'account'], 2, '2026-01-02'),
  ]
  t.strictSame(together(parts), {
    deletedBy: 'user-2',
    delegated: true,
    destroyedAt: '2026-01-02',
    scope: ['memories', 'credentials', 'account'],
    memories: 3,
    credentials: 30,
    keyIds: ['key-1', 'key-2'],
  })
})

t.test('there is no certificate for no erasure', async (t) => {
  t.equal(together([]), undefined)
})
