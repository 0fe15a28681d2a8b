import t from 'tap'
import { consoleSessions } from '../../projections/console-sessions.ts'
import type { ConsoleSessionEvent } from '../../src/domain/console-session/events.ts'
import { handlesAll, projecting } from '../support/given.ts'

const started = (n: number): ConsoleSessionEvent => ({
  type: 'ConsoleSessionStarted',
  data: {
    tokenHash: `hash-${n}`,
    keyId: 'key-1',
    method: 'api_key',
    expiresAt: '2026-01-01T12:00:00.000Z',
  },
})

t.test('console sessions', async (t) => {
  const seen = projecting(t, consoleSessions, 'console-user-1')
  seen(started(1), started(2)).shows(
    {
      token_hash: 'hash-2',
      owner: 'user-1',
      user_id: 'user-1',
      key_id: 'key-1',
      platform_key_hash: null,
      method: 'api_key',
      created_at: '2026-01-01T00:00:00.000Z',
      expires_at: '2026-01-01T12:00:00.000Z',
    },
    'hash-2',
  )
  const end: ConsoleSessionEvent = {
    type: 'ConsoleSessionsEnded',
    data: { tokenHashes: ['hash-1', 'hash-2'], reason: 'signed_out_everywhere' },
  }
  seen(started(1), started(2), end).showsNothing()
  seen(started(1), end, started(2)).shows({ token_hash: 'hash-2' })
})

t.test('sessions of the platform’s key have no user', async (t) => {
  const seen = projecting(t, consoleSessions, 'console-platform')
  seen(started(1)).shows({ owner: 'platform', user_id: null })
})

t.test('every event it handles was given', async (t) => handlesAll(t, consoleSessions))
