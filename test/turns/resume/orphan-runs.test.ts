import t, { type Test } from 'tap'
import type { RunView } from '../../../projections/runs.ts'
import type { SessionEvent } from '../../../src/domain/session/events.ts'
import { sessionStream } from '../../../src/domain/session/session.ts'
import { silent } from '../../../src/ports/log.ts'
import { type Deferred, deferred } from '../../../src/support/deferred.ts'
import { orphanRuns } from '../../../src/turns/resume/orphan-runs.ts'
import type { ResumeOrClose } from '../../../src/turns/resume/resume-or-close.ts'
import { suspectRuns } from '../../../src/turns/resume/suspects.ts'
import type { LiveTurn, Outcome } from '../../../src/turns/turn.ts'
import { commanded } from '../../support/commanded.ts'
import { gathered } from '../../support/noted.ts'
import { call } from '../../support/recorded.ts'

const forEver = 1_000_000
const forGood = new Promise<Outcome>(() => undefined)
const stopped: Outcome = { status: 'cancelled' } as Outcome

/** Runs whose processes died, each in the session of its name. */
const withOrphans = async (t: Test, { patienceMs = forEver } = {}) => {
  const scene = await commanded(t)
  const { commands, clock, store } = scene
  const turns = new Map<string, LiveTurn & { end(): void }>()
  const resumed: string[] = []
  const exhausted: string[] = []
  /** Of runs that wait for one, and which of them were taken over then. */
  const places = new Map<string, Deferred<void>>()
  const takeovers: string[] = []
  const arrivals: { count: number; seen: () => void }[] = []

  const resumeOrClose: ResumeOrClose = async (run, isBesideSuspects = () => false) => {
    const { run_id: runId, session_id: sessionId, node, attempt: nth = 1 } = run
    const place = places.get(runId)
    if (place) {
      turns.set(runId, { runId, outcome: forGood } as unknown as LiveTurn & { end(): void })
      void place.promise.then(() =>
        takeovers.push(isBesideSuspects() ? `${runId} beside others` : runId),
      )
      return
    }
    const besideSuspects = isBesideSuspects()
    const from = { node, attempt: nth }
    const command = { sessionId, runId, from, node: 'node-3', besideSuspects }
    const { attempt, exhausted: isOver } = await commands.resumeRun(command, call)
    if (isOver) exhausted.push(runId)
    if (attempt === undefined) return
    const over = deferred<Outcome>()
    const outcome = over.promise
    const end = () => over.resolve(stopped)
    turns.set(runId, { runId, attempt, outcome, end } as unknown as LiveTurn & { end(): void })
    resumed.push(besideSuspects ? `${runId} beside others` : runId)
    for (const { count, seen } of arrivals) if (resumed.length >= count) seen()
  }
  const suspects = suspectRuns()
  const orphans = orphanRuns({
    ...scene,
    suspects,
    resumeOrClose,
    find: (runId) => turns.get(runId),
    namesOf: async ({ run_id }) => ({ run_id }),
    clock,
    node: 'node-3',
    log: silent,
    patienceMs,
  })
  t.teardown(orphans.stop)

  const runOf = (runId: string, attempt: number): RunView =>
    ({
      run_id: runId,
      session_id: runId,
      organization_id: 'org-1',
      node: `node-${attempt}`,
      attempt,
    }) as RunView

  /** A run of node-1; of two attempts, the second is in node-2. */
  const inFlight = async (runId: string, attempts = 2, beside = false): Promise<RunView> => {
    await commands.sendMessage(
      {
        sessionId: runId,
        viewer: { userId: 'user-1', onlyKeyId: null },
        keyId: 'key-1',
        hidden: undefined,
        messageId: `message of ${runId}`,
        runId,
        seal: async () => ({ content: { $sealed: `session:org-1/${runId}`, box: '' } }),
        agentId: 'agent-1',
        agent: 'Orchestrator',
        node: 'node-1',
        payerId: `payer of ${runId}`,
        reserve: 1_000,
      },
      call,
    )
    for (let attempt = 1; attempt < attempts; attempt++)
      await commands.resumeRun(
        {
          sessionId: runId,
          runId,
          from: { node: `node-${attempt}`, attempt },
          node: `node-${attempt + 1}`,
          besideSuspects: beside && attempt + 1 === attempts,
        },
        call,
      )
    return runOf(runId, attempts)
  }

  const record = async (runId: string, type: 'AgentRouted' | 'ToolStarted') => {
    const step = {
      AgentRouted: { type, data: { runId, fromAgent: 'A', toAgent: 'B' } },
      ToolStarted: {
        type,
        data: {
          runId,
          toolId: 't',
          tool: 'look',
          agent: 'A',
          arguments: { $sealed: `session:org-1/${runId}`, box: '' },
        },
      },
    }[type] as SessionEvent
    await commands.recordSteps({ sessionId: runId, runId, steps: [step] }, call)
    suspects.recorded(runId, [step])
  }

  return {
    ...orphans,
    inFlight,
    record,
    end: (runId: string) => turns.get(runId)?.end(),
    resumed,
    exhausted,
    places,
    takeovers,
    /** Resolves when so many runs have been resumed. */
    resumes: async (count: number) => {
      if (resumed.length < count) await new Promise<void>((seen) => arrivals.push({ count, seen }))
    },
    typesOf: async (runId: string) =>
      (await gathered(store.read(sessionStream('org-1', runId).name))).map(({ type }) => type),
  }
}

t.test('runs that one process died with go on together', async (t) => {
  const { resume, inFlight, resumed } = await withOrphans(t)
  await resume([await inFlight('a', 1), await inFlight('b', 1)])
  t.strictSame(resumed, ['a', 'b'])
})

t.test('a run that has recorded a step since it was resumed is no suspect', async (t) => {
  const { resume, inFlight, record, resumed } = await withOrphans(t)
  const runs = [await inFlight('a'), await inFlight('b')]
  await record('a', 'ToolStarted')
  await record('b', 'ToolStarted')
  await resume(runs)
  t.strictSame(resumed, ['a', 'b'], 'they go on together')
})

t.test('a suspect is resumed once the one before has recorded a step or has stopped', async (t) => {
  const { resume, inFlight, record, end, resumed, resumes } = await withOrphans(t)
  await resume([await inFlight('a'), await inFlight('b'), await inFlight('c')])
  await resumes(1)
  await record('a', 'AgentRouted')
  t.strictSame(resumed, ['a'], 'what leads to a step is none')
  await record('a', 'ToolStarted')
  await resumes(2)
  t.strictSame(resumed, ['a', 'b'])
  end('b')
  await resumes(3)
  t.strictSame(resumed, ['a', 'b', 'c'], 'each by itself')
})

t.test('other runs go on together once all suspects were tried', async (t) => {
  const { resume, inFlight, end, resumed, resumes } = await withOrphans(t)
  const [a, b] = [await inFlight('a', 1), await inFlight('b', 1)]
  await resume([a, b, await inFlight('c')])
  await resumes(1)
  await resume([a, await inFlight('d', 1)])
  t.strictSame(resumed, ['c'])
  end('c')
  await resumes(4)
  t.strictSame(resumed, ['c', 'a', 'b', 'd'])
})

t.test('a suspect that its process outlives is cleared before the next is resumed', async (t) => {
  const { resume, inFlight, resumed, resumes, typesOf } = await withOrphans(t, { patienceMs: 0 })
  await resume([await inFlight('a'), await inFlight('b')])
  await resumes(2)
  t.strictSame(resumed, ['a', 'b beside others'])
  t.equal((await typesOf('a')).at(-1), 'RunCleared')
})

t.test('the run that its process died with beside other suspects is resumed first', async (t) => {
  const { resume, inFlight, resumed, resumes } = await withOrphans(t)
  await resume([await inFlight('a'), await inFlight('b', 3, true)])
  await resumes(1)
  t.strictSame(resumed, ['b'])
})

t.test(
  'a run that its process died with while it was the only suspect is closed at once',
  async (t) => {
    const { resume, inFlight, exhausted, resumed, resumes } = await withOrphans(t)
    await resume([await inFlight('a'), await inFlight('b', 3)])
    t.strictSame(exhausted, ['b'])
    await resumes(1)
    t.strictSame(resumed, ['a'])
  },
)

t.test('a suspect that gets its place after its turn is beside others', async (t) => {
  const { resume, inFlight, places, takeovers, resumed, resumes } = await withOrphans(t, {
    patienceMs: 0,
  })
  const place = deferred<void>()
  places.set('a', place)
  await resume([await inFlight('a'), await inFlight('b')])
  await resumes(1)
  t.strictSame(resumed, ['b beside others'])
  place.resolve()
  await place.promise
  t.strictSame(takeovers, ['a beside others'])
})

t.test('a process that stops resumes no other run, and clears none', async (t) => {
  const { resume, stop, inFlight, resumed, resumes, typesOf } = await withOrphans(t)
  await resume([await inFlight('a'), await inFlight('b'), await inFlight('c', 1)])
  await resumes(1)
  await stop()
  t.strictSame(resumed, ['a'])
  t.equal((await typesOf('a')).at(-1), 'RunResumed')
})
