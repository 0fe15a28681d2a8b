import t from 'tap'
import { ancestorsOf, type TreeNode, treeOf } from '../../console/src/screens/agents/agent-tree.ts'

const agent = (agent_id: string, ...sub_agents: string[]) => ({
  agent_id,
  name: agent_id.toUpperCase(),
  sub_agents,
})
type Agent = ReturnType<typeof agent>

const words = (nodes: readonly TreeNode<Agent>[]): string =>
  nodes
    .map(({ agent: { agent_id: id }, isRepeated, children }) => {
      const below = children.length > 0 ? `(${words(children)})` : ''
      return `${id}${isRepeated ? '*' : ''}${below}`
    })
    .join(' ')

t.test('puts the orchestrator first, then agents that nobody runs', async (t) => {
  const agents = [agent('lone'), agent('root', 'b', 'a'), agent('a'), agent('b')]
  t.equal(words(treeOf(agents, 'root')), 'root(b a) lone')
  t.equal(words(treeOf(agents, undefined)), 'lone root(b a)')
})

t.test('lists an agent that several run in full only once', async (t) => {
  const agents = [agent('root', 'a', 'b'), agent('a', 'c'), agent('b', 'a'), agent('c')]
  t.equal(words(treeOf(agents, 'root')), 'root(a(c) b(a*))')
})

t.test('leaves out agents that are gone', async (t) => {
  t.equal(words(treeOf([agent('root', 'gone')], 'root')), 'root')
})

t.test('stays small where every agent runs every one of the next level', async (t) => {
  const levels = Array.from({ length: 8 }, (_, level) =>
    Array.from({ length: 20 }, (_each, index) => `${level}-${index}`),
  )
  const agents = levels.flatMap((ids, level) =>
    ids.map((id) => agent(id, ...(levels[level + 1] ?? []))),
  )
  const count = (nodes: readonly TreeNode<Agent>[]): number =>
    nodes.reduce((sum, { children }) => sum + 1 + count(children), 0)
  t.equal(count(treeOf(agents, undefined)), 20 + 7 * 20 * 20)
})

t.test('names the agents that cannot be run, since they run it', async (t) => {
  const agents = [agent('root', 'a'), agent('a', 'b'), agent('b'), agent('c', 'b')]
  t.strictSame([...ancestorsOf(agents, 'b')].sort(), ['a', 'b', 'c', 'root'])
  t.strictSame([...ancestorsOf(agents, 'root')], ['root'])
})
