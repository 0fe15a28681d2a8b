import t from 'tap'
import type { ContentView } from '../../projections/contents.ts'
import { listContents } from '../../queries/list-contents.ts'
import type { View } from '../../src/ports/views.ts'

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
