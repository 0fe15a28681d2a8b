import { lastValueFrom, NEVER, Observable, of, take, tap, throwError, toArray } from 'rxjs'
import t from 'tap'
import type { AgentEvent } from '../../src/agents/agent-event.ts'
import { tokenMeter } from '../../src/agents/token-meter.ts'
import {
  type ModelEvent,
  type ModelRequest,
  ModelTimeout,
  ModelUnavailable,
} from '../../src/ports/model.ts'
import { agentNamed, toolNamed } from '../support/agents.ts'
import { calls, says, speaker, stageScene } from '../support/scene.ts'

t.test('how a turn ends early', async (t) => {
  t.test('unsubscribing tears down every branch, tools too', async (t) => {
    let open = 0
    const hanging = (events: readonly ModelEvent[]) =>
      new Observable<ModelEvent>((subscriber) => {
        open++
        for (const event of events) subscriber.next(event)
        if (events.at(-1)?.type === 'done') subscriber.complete()
        return () => {
          open--
        }
      })
    let aborted = false
    const wait = toolNamed('wait', (_, { signal }) => {
      signal.addEventListener('abort', () => {
        aborted = true
      })
      return new Promise(() => undefined)
    })
    const agents = [
      agentNamed('All', { agentType: 'PARALLEL_AGENT', subAgents: ['left', 'right'] }),
      agentNamed('Left'),
      agentNamed('Right', { toolNames: ['wait'] }),
    ]
    const { events } = stageScene({
      agents,
      tools: [wait],
      script: (request) =>
        hanging(
          speaker(request) === 'Left' ? [{ type: 'text', text: 'L' }] : calls(['wait', '{}']),
        ),
    })
    const running = events().subscribe()
    t.equal(open, 1)
    running.unsubscribe()
    t.equal(open, 0)
    t.equal(aborted, true)
  })

  t.test('time-out', async (t) => {
    const { all } = stageScene({
      agents: [agentNamed('Solo')],
      script: () => NEVER,
      limits: { turnMs: 10 },
    })
    await t.rejects(all(), { name: 'TurnTimeout' })
  })

  t.test('an error ends the turn, after the agents it went through', async (t) => {
    const { events } = stageScene({
      agents: [agentNamed('Solo')],
      script: () => throwError(() => new ModelUnavailable('gone')),
    })
    const seen: AgentEvent[] = []
    await t.rejects(lastValueFrom(events().pipe(tap((event) => seen.push(event)))), {
      name: 'ModelUnavailable',
    })
    t.match(seen.at(-1), {
      event: 'agent_completed',
      error: 'ModelUnavailable',
      failed_call: { at: '0/1', model: 'test/model', duration_ms: Number },
    })
  })

  t.test('a model that ends without saying so', async (t) => {
    const { events } = stageScene({ agents: [agentNamed('Solo')], script: () => [] })
    const seen: AgentEvent[] = []
    await t.rejects(lastValueFrom(events().pipe(tap((event) => seen.push(event)))), {
      name: 'ModelFault',
    })
    t.match(seen.at(-1), { error: 'ModelFault', failed_call: { at: '0/1' } })
  })

  t.test('the agent whose model failed names the call, and no agent above it', async (t) => {
    const agents = [
      agentNamed('All', { agentType: 'SEQUENTIAL_AGENT', subAgents: ['left', 'right'] }),
      agentNamed('Left'),
      agentNamed('Right'),
    ]
    const script = (request: ModelRequest) =>
      speaker(request) === 'Left' ? says('Hi') : throwError(() => new ModelTimeout('slow'))
    const { events } = stageScene({ agents, script })
    const seen: AgentEvent[] = []
    await t.rejects(lastValueFrom(events().pipe(tap((event) => seen.push(event)))), {
      name: 'ModelTimeout',
    })
    const completed = seen.flatMap((event) => (event.event === 'agent_completed' ? [event] : []))
    t.strictSame(
      completed.map(({ agent, failed_call }) => [agent, failed_call?.at]),
      [
        ['Left', undefined],
        ['Right', '0.1/1'],
        ['All', undefined],
      ],
    )
  })

  t.test('a synchronous burst stops where nobody listens', async (t) => {
    let given = 0
    const { events } = stageScene({
      agents: [agentNamed('Solo')],
      script: () => of(...says(...Array(100).fill('w'))).pipe(tap(() => given++)),
    })
    const enough = events().pipe(take(4))
    t.equal((await lastValueFrom(enough.pipe(toArray()))).length, 4)
    t.ok(given < 5, `${given} given`)
  })

  t.test('the text until then is metered', async (t) => {
    const meter = tokenMeter()
    const { events } = stageScene({
      agents: [agentNamed('Solo')],
      script: () => says('12345678', 'never'),
    })
    await lastValueFrom(events().pipe(tap(meter.see), take(3)))
    const { usage, charges } = meter.total()
    t.strictSame(usage, { promptTokens: 8 + 5, completionTokens: 2 })
    t.match(charges, [{ model: 'test/model', charge: 15 }])
  })
})
