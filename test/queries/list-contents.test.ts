import t from 'tap'
import type { ContentView } from '../../projections/contents.ts'
import { listContents } from '../../queries/list-contents.ts'
import type { Find, View } from '../../src/ports/views.ts'

t.test('a long prompt is cut between grapheme clusters', async (t) => {
  const item = { id: 'c', charge: 0, prompt: { $sealed: 'k', box: '' } } as unknown as ContentView
  const contents = {
    find: async () => ({ items: [item], total: 1, cut: false }),
  } as unknown as View<ContentView>
  const list = listContents({ contents, open: () => `a${'🇩🇪'.repeat(60)}` })
  const { items } = await list({
    organizationId: 'org-1',
    viewer: { userId: 'user-1', onlyKeyId: null },
    page: { page: 1, pageSize: 20 },
    linkOf: () => '',
  })
  t.equal(items[0]?.prompt, `a${'🇩🇪'.repeat(49)}…`)
})

for (const [total, page, more] of [
  [4, 1, true],
  [4, 2, false],
  [5, 2, true],
  [3, 2, false],
] as const)
  t.test(`page ${page} of 2 items, of ${total} in all: has_more is ${more}`, async (t) => {
    const item = { id: 'c', charge: 0, prompt: { $sealed: 'k', box: '' } } as unknown as ContentView
    const contents = {
      find: async ({ skip = 0, limit = 0 }: Find) => ({
        items: Array.from({ length: Math.min(limit, total - skip) }, () => item),
        total,
      }),
    } as unknown as View<ContentView>
    const answer = await listContents({ contents, open: () => 'a fox' })({
      organizationId: 'org-1',
      viewer: { userId: 'user-1', onlyKeyId: null },
      page: { page, pageSize: 2 },
      linkOf: () => '',
    })
    t.match(answer, { total, page, has_more: more })
    t.equal(answer.items.length, Math.min(2, total - 2 * (page - 1)))
  })

t.test('a prompt of 200 characters is shown whole, and a longer one cut', async (t) => {
  const item = { id: 'c', charge: 0, prompt: { $sealed: 'k', box: '' } } as unknown as ContentView
  const contents = {
    find: async () => ({ items: [item], total: 1 }),
  } as unknown as View<ContentView>
  for (const [length, text] of [
    [200, 'x'.repeat(200)],
    [201, `${'x'.repeat(200)}…`],
  ] as const) {
    const { items } = await listContents({ contents, open: () => 'x'.repeat(length) })({
      organizationId: 'org-1',
      viewer: { userId: 'user-1', onlyKeyId: null },
      page: { page: 1, pageSize: 20 },
      linkOf: () => '',
    })
    t.equal(items[0]?.prompt, text)
  }
})
