import { z } from 'zod'
import { consoleSessionEvents } from '../src/domain/console-session/events.ts'
import { platformId } from '../src/domain/event.ts'
import { id, incomplete, text, timestamp } from './fields.ts'
import { platformIdIn, projection } from './projection.ts'

const { method } = consoleSessionEvents.ConsoleSessionStarted.shape

/** A session of the console by the hash of its token; the token itself is only in its cookie. */
export const consoleSessionView = z.object({
  token_hash: text,
  /** The stream's own id: the user, or `platform`. */
  owner: text,
  /** Null: the platform's key. */
  user_id: id.nullable(),
  key_id: id.nullable(),
  platform_key_hash: text.nullable(),
  method,
  created_at: timestamp,
  expires_at: timestamp,
  incomplete,
})
export type ConsoleSessionView = z.infer<typeof consoleSessionView>

export const consoleSessions = projection<ConsoleSessionView, typeof consoleSessionEvents>()({
  name: 'console_sessions',
  schema: consoleSessionView,
  categories: ['console'],
  events: consoleSessionEvents,
  indexes: { by_owner: { equals: ['owner'], orderBy: 'expires_at' } },
  id: ({ type, data }) =>
    type === 'ConsoleSessionStarted' ? data.tokenHash : [...data.tokenHashes],
  creates: {
    ConsoleSessionStarted: ({ stream, metadata, data }) => {
      const owner = platformIdIn(stream)
      return {
        token_hash: data.tokenHash,
        owner,
        user_id: owner === platformId ? null : owner,
        key_id: data.keyId,
        platform_key_hash: data.platformKeyHash ?? null,
        method: data.method,
        created_at: metadata.at,
        expires_at: data.expiresAt,
      }
    },
  },
  changes: {},
  removes: ['ConsoleSessionsEnded'],
  // An unreadable event of a stream may be the end of any of its sessions.
  ofStream: ({ stream }) => ({ index: 'by_owner', equals: [platformIdIn(stream)] }),
  ignores: {},
})
