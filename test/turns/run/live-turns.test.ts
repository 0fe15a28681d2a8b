import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import type { Position } from '../../../src/domain/event.ts'
import { silent as log } from '../../../src/ports/log.ts'
import { liveTurns } from '../../../src/turns/run/live-turns.ts'
import { announceStart, trackTurn } from '../../../src/turns/run/track-turn.ts'

setFlagsFromString('--expose-gc')
const collected: () => void = runInNewContext('gc')

const about = {
  runId: 'run',
  sessionId: 'session',
  organizationId: 'organization',
  agentId: 'agent',
  created: 1,
  requester: { ownerId: 'user', keyId: null },
}
const done = {
  event: 'done',
  text: 'At noon.',
  agent: 'Guide',
  finish_reason: 'stop',
  usage: { promptTokens: 1, completionTokens: 1 },
  charges: [],
} as const
const beginning = { ownerId: 'user', keyId: null, position: 7 as Position, elapsed: () => 0 }

/** A turn that has ended; answers what it was asked, held by nobody else. */
const retireTurn = async (live: ReturnType<typeof liveTurns>): Promise<WeakRef<object>> => {
  const tracked = trackTurn({ live, resumable: { next: () => undefined }, log })
  const request = { message: 'When is tea?' }
  const tracking = { about, session: 'organization/session', requestId: () => 'r', keep: true }
  const turn = tracked(tracking, async (control) => {
    await setImmediate()
    announceStart(control, { beginning })
    const held = () => void request.message
    control.driving = { cancel: held, handOver: held }
    return { status: 'completed', done }
  })
  await turn.outcome
  return new WeakRef(request)
}

t.test('an ended turn is read again, and keeps nothing of what ran it', async (t) => {
  const live = liveTurns({ monotonic: () => 0 })
  const request = await retireTurn(live)
  await setImmediate()
  collected()
  t.equal(request.deref(), undefined)
  const turn = live.find('run')
  t.match(turn, { ...about, beginning })
  t.equal(await turn?.started, turn)
  t.match(await turn?.outcome, { status: 'completed', done })
  turn?.cancel()
  t.equal(turn?.isCancelled?.(), false, 'nothing stops it any more')
})
