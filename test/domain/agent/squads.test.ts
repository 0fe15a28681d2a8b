import t from 'tap'
import type { Below } from '../../../src/domain/agent/graph.ts'
import { namesBelow, squadRoots } from '../../../src/domain/agent/squads.ts'

/** Eight levels of agents, each of which runs all of the next level. */
const layered = (width: number) => {
  const ids = Array.from({ length: 8 * width }, (_, n) => String(n))
  let visits = 0
  const below: Below = (id) => {
    visits++
    const level = Math.floor(Number(id) / width)
    return level === 7 ? [] : ids.slice((level + 1) * width, (level + 2) * width)
  }
  return { ids, below, visits: () => visits }
}

t.test('an agent counts to the oldest root that reaches it', async (t) => {
  const trees: Record<string, string[]> = { a: ['x'], b: ['x', 'y'], y: ['z'], x: ['z'] }
  const roots = squadRoots(['z', 'x', 'b', 'a', 'y'], (id) => trees[id] ?? [])
  t.strictSame(Object.fromEntries(roots), { b: 'b', x: 'b', y: 'b', z: 'b', a: 'a' })
})

t.test('computing squads visits each agent at most twice', async (t) => {
  const { ids, below, visits } = layered(100)
  const roots = squadRoots(ids, below)
  t.equal(roots.size, 800)
  t.equal(roots.get('799'), '0')
  t.ok(visits() <= 2 * ids.length, `${visits()} looks`)
})

t.test('names below an agent are computed once for each agent', async (t) => {
  const { ids, below, visits } = layered(100)
  const named = [...namesBelow(ids, below, (id) => [Number(id)], 3)]
  t.equal(named.length, 800)
  t.strictSame(named.find(({ agentId }) => agentId === '0')?.places, [0, 100, 101])
  t.strictSame(named.find(({ agentId }) => agentId === '799')?.places, [799])
  t.ok(visits() <= ids.length, `${visits()} looks`)
})
