import { throwError } from 'rxjs'
import t from 'tap'
import { ModelUnavailable } from '../../../src/ports/model.ts'
import { branchOrder } from '../../../src/turns/run/branch-order.ts'
import type { TurnItem } from '../../../src/turns/turn-items.ts'
import { agentNamed, type Script } from '../../support/agents.ts'
import { endOf, inTurn, says, speaker, stageScene } from '../../support/scene.ts'

const parallel = (name: string, ...subAgents: string[]) =>
  agentNamed(name, { agentType: 'PARALLEL_AGENT', subAgents })
const sequence = (name: string, ...subAgents: string[]) =>
  agentNamed(name, { agentType: 'SEQUENTIAL_AGENT', subAgents })

const ordered = (items: readonly TurnItem[]): TurnItem[] => items.flatMap(branchOrder())

const textOf = (items: readonly TurnItem[]): string =>
  items.map((item) => (item.event === 'token' ? item.text : '')).join('')

const words: Record<string, string[]> = {
  A: ['a1 ', 'a2 ', 'a3'],
  B: ['b1'],
  C: ['c1 ', 'c2'],
  D: ['d1 ', 'd2 ', 'd3 ', 'd4'],
}
const script: Script = (request) => inTurn(...(words[speaker(request) ?? ''] ?? ['x']))

const singles = ['A', 'B', 'C', 'D'].map((name) => agentNamed(name))
const trees = {
  'one after the other': [sequence('Top', 'a', 'b')],
  'at the same time': [parallel('Top', 'd', 'b', 'c')],
  'behind another': [sequence('Top', 'a', 'both', 'c'), parallel('Both', 'd', 'b')],
  'two in a row': [
    sequence('Top', 'one', 'two'),
    parallel('One', 'a', 'b'),
    parallel('Two', 'c', 'd'),
  ],
  'one in the other': [parallel('Top', 'b', 'inner', 'c'), parallel('Inner', 'd', 'a')],
  'in a line in another': [
    parallel('Top', 'line', 'b'),
    sequence('Line', 'a', 'inner'),
    parallel('Inner', 'd', 'c'),
  ],
}

for (const [what, containers] of Object.entries(trees))
  t.test(`what is said adds up to what is stored: ${what}`, async (t) => {
    const { all } = stageScene({ agents: [...containers, ...singles], script })
    const events = await all()
    const { text } = endOf(events)
    t.equal(textOf(ordered(events)), text)
    const stepCount = (items: readonly TurnItem[]) =>
      items.filter(({ event }) => event === 'agent_started' || event === 'tool_started').length
    t.equal(stepCount(ordered(events)), stepCount(events), 'nothing else is lost')
    t.equal(events.filter(({ event }) => event === 'done').length, 1)
    t.strictSame(ordered(events), ordered(events), 'always alike')
  })

t.test('a branch that fails says so in its place', async (t) => {
  const failure = new ModelUnavailable('gone')
  const { all } = stageScene({
    agents: [parallel('Top', 'a', 'b'), ...singles],
    script: (request) =>
      speaker(request) === 'A' ? throwError(() => failure) : says('Still here'),
  })
  const events = await all()
  t.equal(textOf(ordered(events)), endOf(events).text)
})

t.test(
  'the first branch is live, the others wait; a turn that ends early keeps what they said',
  async (t) => {
    const { all } = stageScene({ agents: [parallel('Top', 'a', 'd'), ...singles], script })
    const events = await all()
    const order = branchOrder()
    let seen = ''
    for (const event of events) {
      if (event.event === 'branch_ended') break
      seen += textOf(order(event))
    }
    t.match(seen, /^A:\na1 /)
    t.notMatch(seen, /d1/)
    t.match(textOf(order({ event: 'failed', code: 'orchestrator_error', message: '' })), /D:\nd1 /)
  },
)
