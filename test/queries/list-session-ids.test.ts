import t from 'tap'
import type { ForkView } from '../../projections/forks.ts'
import type { SessionView } from '../../projections/sessions.ts'
import { listSessionIds } from '../../queries/list-session-ids.ts'
import type { Find, View } from '../../src/ports/views.ts'

const viewOf = <Doc>(ids: readonly string[]) => {
  const queries: Find[] = []
  const items = ids.map((session_id) => ({ session_id }))
  const view = {
    find: async (query: Find) => {
      queries.push(query)
      return { items: items.slice(query.skip ?? 0), total: items.length }
    },
  } as unknown as View<Doc>
  return { view, queries }
}

t.test('sessions and unfinished forks of a user are listed, each once', async (t) => {
  const sessions = viewOf<SessionView>(['s-1', 's-2'])
  const forks = viewOf<ForkView>(['s-2', 's-3'])
  const list = listSessionIds({ sessions: sessions.view, forks: forks.view })
  t.strictSame((await list('org-1', 'user-1')).toSorted(), ['s-1', 's-2', 's-3'])
  t.match(sessions.queries[0], { equals: ['org-1', 'user-1', false], orLast: [true] })
  t.match(forks.queries[0], { equals: ['org-1', 'user-1'] })
})
