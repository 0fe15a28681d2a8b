import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readInOrder } from '../../queries/read-in-order.ts'
import { readPage } from '../../queries/read-page.ts'
import { embeddedViews } from '../../src/adapters/embedded/views.ts'
import { openViewsEnv } from '../../src/adapters/embedded/views-env.ts'
import { countedView } from '../support/counted-view.ts'
import { at } from '../support/positions.ts'

type Note = { owner: string; position: number; text: string }

const mb = 1024 * 1024
const place = t.testdir()
let places = 0

/** Notes of so many characters, and a view that counts. */
const stored = async (t: Test, many: number, characters: number) => {
  const path = join(place, String(places++))
  const views = embeddedViews(await openViewsEnv({ path }))
  t.teardown(() => views.close())
  const view = await views.view<Note>({
    name: 'notes',
    indexes: { by_owner: { equals: ['owner'], orderBy: 'position' } },
  })
  const text = 'x'.repeat(characters)
  for (let position = 1; position <= many; position++) {
    const change = { id: `note ${position}`, document: { owner: 'o', position, text } }
    await views.commit([{ view: 'notes', changes: [change], position: at(position) }])
  }
  return countedView(view)
}

const of = { index: 'by_owner', equals: ['o'] }

t.test('a page reads no more than it shows, and later pages have the rest', async (t) => {
  const { view, reads } = await stored(t, 30, mb)
  const seen: number[] = []
  for (let page = { page: 1, pageSize: 20 }, more = true; more; ) {
    const show = ({ position, text }: Note) => ({ value: position, bytes: text.length })
    const { items, paging } = await readPage(view, of, page, show)
    t.ok(reads().documents <= 9, 'documents of 8 MB are read')
    t.equal(paging.total, 30)
    seen.push(...items)
    page = { page: paging.page + 1, pageSize: paging.page_size }
    more = paging.has_next
  }
  t.strictSame(
    seen,
    Array.from({ length: 30 }, (_, n) => n + 1),
  )
})

t.test('a page of small documents is complete', async (t) => {
  const { view } = await stored(t, 30, 10)
  const show = ({ position }: Note) => ({ value: position, bytes: 10 })
  const fullPage = await readPage(view, of, { page: 1, pageSize: 20 }, show)
  t.equal(fullPage.items.length, 20)
  t.match(fullPage.paging, { page: 1, page_size: 20, has_next: true })
  const beyond = await readPage(view, of, { page: 3, pageSize: 20 }, show)
  t.strictSame(beyond.items, [])
  t.match(beyond.paging, { page: 3, page_size: 20, has_next: false })
})

t.test('documents are read in order, a hundred at a time', async (t) => {
  const { view } = await stored(t, 250, 10)
  const batches: number[] = []
  const seen: number[] = []
  for await (const some of readInOrder(view, of)) {
    batches.push(some.length)
    seen.push(...some.map(({ position }) => position))
  }
  t.strictSame(batches, [100, 100, 50])
  t.strictSame(
    seen,
    Array.from({ length: 250 }, (_, n) => n + 1),
  )
})
