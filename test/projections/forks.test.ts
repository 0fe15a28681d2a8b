import t from 'tap'
import { forks } from '../../projections/forks.ts'
import { handlesAll, projecting } from '../support/given.ts'
import { sessionEvent, sessionStream } from '../support/session-events.ts'

const at = '2026-01-01T00:00:00.000Z'

t.test('forks that are not finished', async (t) => {
  const seen = projecting(t, forks, sessionStream)
  const forkBegun = sessionEvent('ForkBegun', at)
  seen(forkBegun, sessionEvent('MessageForked')).shows({
    session_id: 'session-1',
    organization_id: 'org-1',
    user_id: 'user-1',
    key_id: 'key-1',
    hidden: false,
    fork_id: 'fork-1',
    forked_from: 'session-0',
    after: 'message-2',
    messages: 2,
    node: 'node-1',
    begun_at: at,
  })
  seen(forkBegun, sessionEvent('SessionForked')).showsNothing('org-1/session-1')
  seen(forkBegun, sessionEvent('SessionErased')).showsNothing('org-1/session-1')
})

t.test('every event it handles was given', async (t) => handlesAll(t, forks))
