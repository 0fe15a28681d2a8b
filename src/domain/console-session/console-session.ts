import { type Aggregate, platformStreamOf } from '../aggregate.ts'
import { platformId } from '../event.ts'
import { type ConsoleSessionEvent, consoleSessionEvents } from './events.ts'

/** Lifetime of a session (docs/contract/limits.md#times). */
export const consoleSessionMs = 12 * 60 * 60_000

/** Of one key, or of one person who signed in without a key; the oldest is ended for a new one. */
export const mostConsoleSessions = 20

type Session = { tokenHash: string; keyId: string | null; expiresAt: string }

/** The sessions of one user, or of the platform, that may not have expired yet. */
export type ConsoleSessions = { sessions: readonly Session[] }

export const consoleSessions: Aggregate<ConsoleSessions, typeof consoleSessionEvents> = {
  category: 'console',
  events: consoleSessionEvents,
  initial: { sessions: [] },
  evolve: {
    ConsoleSessionStarted: ({ sessions }, { tokenHash, keyId, expiresAt }) => ({
      sessions: [...sessions, { tokenHash, keyId, expiresAt }],
    }),
    ConsoleSessionsEnded: ({ sessions }, { tokenHashes }) => ({
      sessions: sessions.filter(({ tokenHash }) => !tokenHashes.includes(tokenHash)),
    }),
  },
}

/** A user's sessions, in whichever organization; null: those of the platform's key. */
export const consoleSessionsStream = (userId: string | null) =>
  platformStreamOf(consoleSessions, userId ?? platformId)

type Started = ConsoleSessionEvent<'ConsoleSessionStarted'>['data']
type Reason = ConsoleSessionEvent<'ConsoleSessionsEnded'>['data']['reason']

const endEvents = (sessions: readonly Session[], reason: Reason): ConsoleSessionEvent[] => {
  if (sessions.length === 0) return []
  const tokenHashes = sessions.map(({ tokenHash }) => tokenHash)
  return [{ type: 'ConsoleSessionsEnded', data: { tokenHashes, reason } }]
}

/** Starts a session, and ends those that have expired or are too many. `at`: ISO 8601. */
export const decideStart =
  (data: Started, at: string) =>
  ({ sessions }: ConsoleSessions): ConsoleSessionEvent[] => {
    if (sessions.some(({ tokenHash }) => tokenHash === data.tokenHash)) return []
    const expired = sessions.filter(({ expiresAt }) => expiresAt <= at)
    const alike = sessions.filter(
      (session) => session.keyId === data.keyId && !expired.includes(session),
    )
    const surplus = alike.slice(0, Math.max(0, alike.length + 1 - mostConsoleSessions))
    return [
      ...endEvents(expired, 'expired'),
      ...endEvents(surplus, 'too_many'),
      { type: 'ConsoleSessionStarted', data },
    ]
  }

export const decideEnd =
  (tokenHash: string) =>
  ({ sessions }: ConsoleSessions): ConsoleSessionEvent[] =>
    endEvents(
      sessions.filter((session) => session.tokenHash === tokenHash),
      'signed_out',
    )

/** Ends the sessions of a key, or all of the user. */
export const decideEndAll =
  (of: { keyId: string } | 'all') =>
  ({ sessions }: ConsoleSessions): ConsoleSessionEvent[] =>
    endEvents(
      of === 'all' ? sessions : sessions.filter(({ keyId }) => keyId === of.keyId),
      'signed_out_everywhere',
    )
