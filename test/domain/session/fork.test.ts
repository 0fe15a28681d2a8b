import t from 'tap'
import { evolved } from '../../../src/domain/aggregate.ts'
import { decideErase } from '../../../src/domain/session/erase.ts'
import type { SessionEvent } from '../../../src/domain/session/events.ts'
import {
  decideFork,
  type ForkedMessage,
  type ForkPiece,
  mostForked,
  requireFree,
  requireSource,
} from '../../../src/domain/session/fork.ts'
import { decideSend } from '../../../src/domain/session/send.ts'
import { session } from '../../../src/domain/session/session.ts'
import { deciding } from '../../support/given.ts'

const viewer = { userId: 'user-1', onlyKeyId: null }
const cut = { forkedFrom: 'session-0', after: 'message-3', messages: 3 }
const fork = { ...cut, forkId: 'fork-1' }
const owner = { userId: 'user-1', keyId: 'key-1', hidden: true }

const message = (n: number, saidBy: ForkedMessage['saidBy'] = 'user'): ForkedMessage => ({
  messageId: `copy-${n}`,
  from: `message-${n}`,
  fromRun: `run-${n}`,
  saidBy,
  at: '2026-01-01T00:00:00.000Z',
  content: { $sealed: 'session:org-1/session-1', box: `text ${n}` },
})
const piece = (at: number, ...messages: ForkedMessage[]): ForkPiece => ({
  fork,
  viewer,
  keyId: 'key-1',
  hidden: true,
  node: 'node-1',
  at,
  messages,
})
const forkBegun: SessionEvent<'ForkBegun'> = {
  type: 'ForkBegun',
  data: { ...owner, ...fork, node: 'node-1' },
}
const copied = (n: number, saidBy?: ForkedMessage['saidBy']): SessionEvent<'MessageForked'> => ({
  type: 'MessageForked',
  data: message(n, saidBy),
})
const forked: SessionEvent<'SessionForked'> = { type: 'SessionForked', data: { ...owner, ...cut } }
const erased: SessionEvent = {
  type: 'SessionErased',
  data: { deletedBy: 'user-1', sessionOwner: 'user-1', delegated: false },
}
const created: SessionEvent = {
  type: 'SessionCreated',
  data: { userId: 'user-1', keyId: 'key-1', hidden: false },
}

t.test('deciding a fork', async (t) => {
  const given = deciding(t, session)
  const all = [message(1), message(2, 'assistant'), message(3)]
  given()
    .when(decideFork(piece(0, ...all)))
    .emitsOnce(forkBegun, copied(1), copied(2, 'assistant'), copied(3), forked)
  given()
    .when(decideFork(piece(0, message(1))))
    .emitsOnce(forkBegun, copied(1))
  given(forkBegun, copied(1))
    .when(decideFork(piece(1, message(2))))
    .emitsOnce(copied(2))
  given(forkBegun, copied(1), copied(2))
    .when(decideFork(piece(2, message(3))))
    .emitsOnce(copied(3), forked)
  const empty = { ...fork, after: null, messages: 0 }
  given()
    .when(decideFork({ ...piece(0), fork: empty }))
    .emitsOnce(
      { type: 'ForkBegun', data: { ...forkBegun.data, after: null, messages: 0 } },
      { type: 'SessionForked', data: { ...forked.data, after: null, messages: 0 } },
    )
})

t.test('a message is copied once, and none is left out', async (t) => {
  const given = deciding(t, session)
  given(forkBegun, copied(1), copied(2))
    .when(decideFork(piece(1, message(2))))
    .changesNothing()
  given(forkBegun, copied(1))
    .when(decideFork(piece(2, message(3))))
    .changesNothing()
  given(forkBegun, copied(1), copied(2), copied(3), forked)
    .when(decideFork(piece(2, message(3))))
    .changesNothing()
})

t.test('an id that is taken', async (t) => {
  const given = deciding(t, session)
  const other = { ...piece(0, message(1)), fork: { ...fork, forkId: 'fork-2' } }
  given(created).when(decideFork(other)).refuses('session_exists')
  given(forkBegun, copied(1)).when(decideFork(other)).refuses('session_exists')
  given(erased).when(decideFork(other)).refuses('session_not_found')
  given(forkBegun, copied(1), erased)
    .when(decideFork(piece(1, message(2))))
    .refuses('session_not_found')
  const stranger = { ...other, viewer: { userId: 'user-2', onlyKeyId: null } }
  given(created).when(decideFork(stranger)).refuses('session_not_found')
  const state = evolved(session, session.initial, [forkBegun])
  t.doesNotThrow(() => requireFree(viewer, 'fork-1', state), 'by this fork')
})

t.test('half a fork is no session', async (t) => {
  const given = deciding(t, session)
  const half = [forkBegun, copied(1)]
  const send = {
    viewer,
    keyId: 'key-1',
    hidden: undefined,
    messageId: 'message-9',
    runId: 'run-9',
    content: { $sealed: 'session:org-1/session-1', box: 'Hi' },
    agentId: 'agent-1',
    agent: 'Orchestrator',
    node: 'node-1',
    payerId: 'user-1',
  }
  given(...half)
    .when(decideSend(send))
    .refuses('session_not_found')
  const state = evolved(session, session.initial, half)
  t.throws(() => requireSource(viewer, state), { code: 'session_not_found' })
  given(...half)
    .when(decideErase({ sessionOwner: 'user-1', deletedBy: 'user-1' }))
    .emits(erased)
})

t.test('a complete fork is open, with the messages of its source', async (t) => {
  const calls = [{ id: 'c', name: 'n', arguments: message(1).content }]
  const called = { ...message(2, 'assistant'), toolCalls: calls }
  const state = evolved(session, session.initial, [
    forkBegun,
    copied(1),
    { type: 'MessageForked', data: called },
    copied(3, 'tool'),
    copied(4, 'assistant'),
    forked,
  ])
  t.match(state, { status: 'open', ownerId: 'user-1', keyId: 'key-1', hidden: true, waiting: null })
  t.strictSame(
    state.recent.map(({ role, content }) => [role, content.box]),
    [
      ['user', 'text 1'],
      ['assistant', 'text 4'],
    ],
    'without calls and their results, as in the session itself',
  )
  t.doesNotThrow(() => requireSource(viewer, state))
  const other = { userId: 'user-1', onlyKeyId: 'key-2' }
  t.throws(() => requireSource(other, state), { code: 'session_not_found' })
})

t.test(
  'a fork copies 10,000 messages, 22 million characters and 32 MB of files at most',
  async (t) => {
    t.strictSame(mostForked, { messages: 10_000, characters: 22_369_622, files: 33_554_432 })
  },
)
