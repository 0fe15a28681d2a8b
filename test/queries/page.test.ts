import fc from 'fast-check'
import t from 'tap'
import { fittedPage, skipTo } from '../../queries/page.ts'

t.test('a page that does not fit becomes a smaller one that begins at the same item', async (t) => {
  t.strictSame(fittedPage({ page: 3, pageSize: 50 }, 50, 50), { page: 3, pageSize: 50 })
  t.strictSame(fittedPage({ page: 1, pageSize: 200 }, 200, 8), { page: 1, pageSize: 8 })
  t.strictSame(fittedPage({ page: 2, pageSize: 200 }, 200, 9), { page: 26, pageSize: 8 })
  const size = fc.integer({ min: 1, max: 200 })
  fc.assert(
    fc.property(size, size, size, (page, pageSize, fitting) => {
      const request = { page, pageSize }
      const fitted = fittedPage(request, pageSize, fitting)
      return (
        skipTo(fitted) === skipTo(request) && fitted.pageSize >= 1 && fitted.pageSize <= pageSize
      )
    }),
  )
})
