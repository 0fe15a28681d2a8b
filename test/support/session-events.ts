import type { z } from 'zod'
import { sessionEvents } from '../../src/domain/session/events.ts'
import { sampleOf } from './events.ts'

type Table = typeof sessionEvents

/** A session's event as its frozen sample has it, some of its data changed. */
export const sessionEvent = <Type extends keyof Table>(
  type: Type,
  at?: string,
  change: Partial<z.infer<Table[Type]>> = {},
) => ({ ...sampleOf(sessionEvents, type, change), ...(at ? { at } : {}) })

export const sessionStream = 'session-org-1_session-1'

/** A session that is being answered. */
export const runningSession = [
  sessionEvent('SessionCreated'),
  sessionEvent('UserMessageSent'),
  sessionEvent('RunStarted'),
]
