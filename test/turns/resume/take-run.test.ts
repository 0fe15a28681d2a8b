import { Observable, of } from 'rxjs'
import t, { type Test } from 'tap'
import { findAnswer } from '../../../queries/find-answer.ts'
import type { AgentEvent } from '../../../src/agents/agent-event.ts'
import type { AgentTurn } from '../../../src/agents/turn.ts'
import { sessionStream } from '../../../src/domain/session/session.ts'
import { deferred } from '../../../src/support/deferred.ts'
import { pastTurn } from '../../../src/turns/read/past-turn.ts'
import type { AbandonRun } from '../../../src/turns/resume/abandon-run.ts'
import { findOrResumeTurn } from '../../../src/turns/resume/find-or-resume-turn.ts'
import { takeRun } from '../../../src/turns/resume/take-run.ts'
import { agentNamed, scripted } from '../../support/agents.ts'
import { type Commanded, commanded } from '../../support/commanded.ts'
import { gathered } from '../../support/noted.ts'
import { turnRequest } from '../../support/turn-request.ts'
import { turnsOver } from '../../support/turns.ts'

const agent = agentNamed('A')
const request = turnRequest({
  system: [{ role: 'system', content: 'Be short.' }],
  before: [{ role: 'user', content: 'Earlier' }],
  settings: { temperature: 0.5 },
  agent,
})

const usage = { promptTokens: 10, completionTokens: 2 }
const answer = (text: string): AgentEvent => ({
  event: 'model_answered',
  step_id: 'step-1',
  at: '0/1',
  agent: 'A',
  model: 'test/model',
  price: { prompt: 1, completion: 1 },
  usage,
  finish_reason: 'tool_calls',
  text,
  calls: [{ id: 'c0', name: 'pay', arguments: '{}' }],
})
const done = (text: string): AgentEvent => ({
  event: 'done',
  text,
  agent: 'A',
  finish_reason: 'stop',
  usage,
  charges: [{ model: 'test/model', price: { prompt: 1, completion: 1 }, usage, charge: 12 }],
})

/** A process on a store that it shares with others. */
const nodeOn = (
  scene: Commanded,
  node: string,
  runAgent: (turn: AgentTurn) => Observable<AgentEvent>,
  abandonRun: AbandonRun = async () => undefined,
) => {
  const { store } = scene
  const findAgents = async () => ({ orchestrator: agent, agents: new Map() })
  return turnsOver(scene, {
    node,
    runAgent,
    models: scripted(() => []),
    takeRun: takeRun({ ...scene, abandonRun, readStream: store.read, findAgents, node }),
  })
}

/** Agents that answer at once. */
const answering = (text: string) => of(done(text))

/** A run of node-1, in which a model has answered with a call that is about to be made. */
const runningScene = async (t: Test, { keep = false, sent = request } = {}) => {
  const scene = await commanded(t)
  const effects: string[] = []
  const awake = deferred<void>()
  const first = nodeOn(
    scene,
    'node-1',
    (turn) =>
      new Observable((subscriber) => {
        subscriber.next(answer('Let me pay.'))
        void Promise.resolve(turn.journal?.saved())
          .then(() => awake.promise)
          .then(() => {
            subscriber.next({ ...answer('It is paid.'), at: '0/2' } as AgentEvent)
            return turn.journal?.saved()
          })
          .then(
            () => effects.push('node-1'),
            () => undefined,
          )
      }),
  )
  const turn = first.send(sent, { keep, runsAtOnce: 20 })
  await turn.started
  const stored = () => gathered(scene.store.read(sessionStream('org-1', 'session-1').name))
  while (!(await stored()).some(({ type }) => type === 'ModelAnswered'))
    await new Promise((resolve) => setImmediate(resolve))
  await scene.seen()
  const run = await scene.read.runs.get(turn.runId)
  if (!run) throw new Error('the run is not shown')
  return { ...scene, first, turn, run, effects, wake: () => awake.resolve(), stored }
}

t.test('a process that was paused and lost its run stores nothing more of it', async (t) => {
  const { turn, run, effects, wake, stored, read, ...scene } = await runningScene(t)
  const given: AgentTurn[] = []
  const second = nodeOn({ ...scene, read }, 'node-2', (turn) => {
    given.push(turn)
    return answering('It is done.')
  })
  await second.resume(run)
  t.match(await second.find(run.run_id)?.outcome, { status: 'completed' })
  t.match(given, [
    {
      message: 'Hi',
      settings: { temperature: 0.5 },
      history: [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: 'Earlier' },
      ],
    },
  ])
  t.match(given[0]?.journal?.answerAt('0/1'), {
    text: 'Let me pay.',
    calls: [{ name: 'pay', arguments: '{}' }],
    usage,
  })

  wake()
  t.match(await turn.outcome, { status: 'failed', refusal: { code: 'service_unavailable' } })
  t.strictSame(effects, [], 'nothing is done that is not recorded')
  await scene.seen()
  const types = (await stored()).map(({ type }) => type)
  t.strictSame(types.slice(-4), [
    'ModelAnswered',
    'RunResumed',
    'AssistantMessageRecorded',
    'RunCompleted',
  ])
  t.match(await read.accounts.get('user-1'), { balance: -12, holding: undefined })
})

t.test('a run of a draft is resumed elsewhere with the settings of the draft', async (t) => {
  const draft = agentNamed('Draft', { instruction: 'Be kind.', maxTokens: 7 })
  const sent = turnRequest({ agent: draft, isDraft: true })
  const { turn, run, wake, ...scene } = await runningScene(t, { sent })
  const given: AgentTurn[] = []
  const second = nodeOn(scene, 'node-2', (turn) => {
    given.push(turn)
    return answering('It is done.')
  })
  await second.resume(run)
  t.match(await second.find(run.run_id)?.outcome, { status: 'completed' })
  t.strictSame(given[0]?.agent, draft)
  t.strictSame(given[0]?.agents.get(draft.agentId), draft)
  const [, , started] = await scene.stored()
  t.match(started, { type: 'RunStarted', data: { draft: true } })
  t.notMatch(JSON.stringify(started), /Be kind/, 'it is sealed')
  wake()
  await turn.outcome
})

t.test('one of two processes takes over a run, and makes it claimable once', async (t) => {
  const { run, read, stored, wake, turn, ...scene } = await runningScene(t)
  const abandoned: string[] = []
  const finishingNode = (name: string) =>
    nodeOn(
      { ...scene, read },
      name,
      () => answering(name),
      async ({ run_id, node }) => {
        const types = (await stored()).map(({ type }) => type)
        t.equal(types.at(-1), 'RunResumed', 'once the other process cannot end it, before it ends')
        abandoned.push(`${run_id} of ${node}`)
      },
    )
  const nodes = [finishingNode('node-2'), finishingNode('node-3')]
  await Promise.all(nodes.map((node) => node.resume(run)))
  await Promise.all(nodes.map((node) => node.find(run.run_id)?.outcome))
  await scene.seen()
  const types = (await stored()).map(({ type }) => type)
  t.equal(types.filter((type) => type === 'RunResumed').length, 1)
  t.equal(types.filter((type) => type === 'RunCompleted').length, 1)
  t.strictSame(abandoned, [`${run.run_id} of node-1`])
  wake()
  t.match(await turn.outcome, { status: 'failed' })
})

/** A run that goes on when it is told to, and ends with the name of its node. */
const endsWhen = (go: Promise<void>, name: string) => () =>
  new Observable<AgentEvent>((subscriber) => {
    void go.then(() => {
      subscriber.next(done(name))
      subscriber.complete()
    })
  })

t.test('a process that resumes a run twice has it once', async (t) => {
  const { run, read, stored, wake, turn, ...scene } = await runningScene(t)
  const go = deferred<void>()
  const second = nodeOn({ ...scene, read }, 'node-2', endsWhen(go.promise, 'node-2'))
  // Two decisions at once, or one and the recurring work; then one that has not seen the first.
  await Promise.all([second.resume(run), second.resume(run)])
  await second.resume(run)
  const live = second.find(run.run_id)
  t.equal(live?.attempt, 2, 'who asks for the run finds the one that goes on')
  t.ok(second.isRunning(run.run_id))
  t.equal(second.running, 1)
  go.resolve()
  t.match(await live?.outcome, { status: 'completed', done: { text: 'node-2' } })
  t.notOk(second.isRunning(run.run_id))
  t.equal(second.find(run.run_id)?.items, live?.items, 'it can be read again')
  const types = (await stored()).map(({ type }) => type)
  t.equal(types.filter((type) => type === 'RunResumed').length, 1)
  wake()
  await turn.outcome
})

for (const over of [true, false])
  t.test(
    `a turn that was lost is not kept, its run ${over ? 'has ended' : 'goes on'} elsewhere`,
    async (t) => {
      const { run, read, wake, turn, first, ...scene } = await runningScene(t, { keep: true })
      const go = deferred<void>()
      const second = nodeOn({ ...scene, read }, 'node-2', endsWhen(go.promise, 'node-2'))
      await second.resume(run)
      const elsewhere = second.find(run.run_id)?.outcome
      if (over) {
        go.resolve()
        await elsewhere
      }
      wake()
      t.match(await turn.outcome, { status: 'failed', refusal: { code: 'service_unavailable' } })
      t.equal(first.find(run.run_id), undefined, 'who repeats the request does not get its failure')
      go.resolve()
      await elsewhere
      const repeated = first.send(request, { keep: true, runsAtOnce: 20 })
      t.match(await repeated.outcome, { status: 'completed', done: { text: 'node-2' } })
    },
  )

t.test('who asks for a run whose process is gone has it go on here', async (t) => {
  const { run, read, wake, turn, ...scene } = await runningScene(t)
  const go = deferred<void>()
  const second = nodeOn({ ...scene, read }, 'node-2', endsWhen(go.promise, 'node-2'))
  const alive = new Set(['node-1'])
  const takeOverRun = findOrResumeTurn({
    pastTurn: pastTurn(findAnswer({ ...read, open: scene.vault.open })),
    findRun: read.runs.get,
    live: second,
    isAlive: async (node) => alive.has(node),
    orphanRuns: {
      async resume(runs) {
        for (const view of runs) await second.resume(view)
      },
    },
    node: 'node-2',
  })
  const nothing = { items: 0, characters: 0 }
  t.equal(await takeOverRun('none', nothing), undefined)
  t.equal(
    await takeOverRun(run.run_id, nothing),
    undefined,
    'while its process lives, it is left alone',
  )
  alive.clear()
  const [left, right] = await Promise.all([
    takeOverRun(run.run_id, nothing),
    takeOverRun(run.run_id, nothing),
  ])
  t.match(left, { runId: run.run_id, attempt: 2 })
  t.equal(right, left)
  go.resolve()
  t.match(await left?.outcome, { status: 'completed' })
  const stored = await takeOverRun(run.run_id, nothing)
  t.not(stored, left, 'one that has ended is read back')
  t.match(await stored?.outcome, { status: 'completed', done: { text: 'node-2' } })
  wake()
  await turn.outcome
})
