import t from 'tap'
import { opener } from '../../queries/opened.ts'
import { StoreUnavailable } from '../../src/ports/event-store.ts'

const sealed = (key: string, box: string) => ({ $sealed: key, box })

t.test('sealed texts are opened wherever they are', async (t) => {
  const opened = opener(({ $sealed, box }) => ($sealed === 'gone' ? undefined : box))
  const stored = {
    plain: 'text',
    none: null,
    text: sealed('session:org-1/s-1', 'Hello'),
    list: [sealed('gone', 'x'), 1, { deep: sealed('session:org-1/s-1', 'Deep') }],
  }
  t.strictSame(await opened(stored), {
    plain: 'text',
    none: null,
    text: 'Hello',
    list: [{ erased: true }, 1, { deep: 'Deep' }],
  })
})

t.test('credentials stay where they are; what does not open stays as it is', async (t) => {
  const opened = opener(() => {
    throw new Error('not sealed by us')
  })
  t.strictSame(await opened(sealed('credentials:org-1/user-1', 'x')), { withheld: true })
  t.strictSame(await opened(sealed('made up', 'x')), sealed('made up', 'x'))
  t.strictSame(await opened({ ...sealed('a', 'x'), more: 1 }), { ...sealed('a', 'x'), more: 1 })
})

t.test('a store that is out of reach is an error', async (t) => {
  const opened = opener(() => Promise.reject(new StoreUnavailable('the keys')))
  await t.rejects(opened(sealed('session:org-1/s-1', 'x')), { name: 'StoreUnavailable' })
})
