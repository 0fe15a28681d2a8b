import t from 'tap'
import {
  consoleSessions,
  decideEnd,
  decideEndAll,
  decideStart,
  mostConsoleSessions,
} from '../../../src/domain/console-session/console-session.ts'
import type { ConsoleSessionEvent } from '../../../src/domain/console-session/events.ts'
import { deciding } from '../../support/given.ts'

const at = (time: string) => `2026-01-01T${time}:00.000Z`

const session = (n: number, expires = '12:00', keyId: string | null = 'key-1') =>
  ({ tokenHash: `hash-${n}`, keyId, method: 'api_key', expiresAt: at(expires) }) as const

const started = (...of: Parameters<typeof session>): ConsoleSessionEvent => ({
  type: 'ConsoleSessionStarted',
  data: session(...of),
})

type EndData = ConsoleSessionEvent<'ConsoleSessionsEnded'>['data']

const endOf = (reason: EndData['reason'], ...hashes: number[]): ConsoleSessionEvent => ({
  type: 'ConsoleSessionsEnded',
  data: { tokenHashes: hashes.map((n) => `hash-${n}`), reason },
})

t.test('a sign-in starts a session, and ends those that have expired', async (t) => {
  const given = deciding(t, consoleSessions)
  given()
    .when(decideStart(session(1), at('00:00')))
    .emitsOnce(started(1))
  given(started(1, '12:00'), started(2, '12:01'))
    .when(decideStart(session(3, '23:59'), at('12:00')))
    .emitsOnce(endOf('expired', 1), started(3, '23:59'))
})

t.test('the oldest session of a key ends when it has too many', async (t) => {
  const given = deciding(t, consoleSessions)
  const full = Array.from({ length: mostConsoleSessions }, (_, n) => started(n))
  const next = session(mostConsoleSessions)
  given(...full)
    .when(decideStart(next, at('00:00')))
    .emitsOnce(endOf('too_many', 0), started(mostConsoleSessions))
  given(...full)
    .when(decideStart({ ...next, keyId: null }, at('00:00')))
    .emitsOnce(started(mostConsoleSessions, '12:00', null))
})

t.test('a sign-out ends one session, and a second one nothing', async (t) => {
  const given = deciding(t, consoleSessions)
  given(started(1), started(2)).when(decideEnd('hash-1')).emitsOnce(endOf('signed_out', 1))
  given(started(1), endOf('signed_out', 1)).when(decideEnd('hash-1')).changesNothing()
})

t.test('a sign-out everywhere ends all sessions, or those of a key', async (t) => {
  const given = deciding(t, consoleSessions)
  const all = [started(1), started(2, '12:00', 'key-2'), started(3, '12:00', null)]
  given(...all)
    .when(decideEndAll('all'))
    .emitsOnce(endOf('signed_out_everywhere', 1, 2, 3))
  given(...all)
    .when(decideEndAll({ keyId: 'key-2' }))
    .emitsOnce(endOf('signed_out_everywhere', 2))
  given().when(decideEndAll('all')).changesNothing()
})
