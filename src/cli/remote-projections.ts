import { setTimeout as after } from 'node:timers/promises'
import { z } from 'zod'
import type { Progress } from '../projector/rebuild.ts'
import { CommandFailed } from './command-failed.ts'
import type { Projections } from './projections.ts'
import type { Remote } from './remote.ts'

const pollMs = 200

const status = z.object({
  name: z.string(),
  position: z.number(),
  lag: z.number(),
  lag_unit: z.enum(['events', 'bytes']),
  state: z.string(),
  progress: z.object({ events: z.number(), percent: z.number() }).optional(),
  error: z.string().optional(),
})
const answer = z.object({
  projections: z.array(status),
  unreadable_events: z
    .array(
      z.object({ position: z.number(), stream: z.string(), type: z.string(), reason: z.string() }),
    )
    .default([]),
})

/** The read models of a running server. */
export const remoteProjections = (ask: Remote): Projections => {
  const listing = async () => answer.parse(await ask('GET', '/api/admin/projections'))
  const list = async () => (await listing()).projections
  const rebuild = async (name: string, progress: (progress: Progress) => void): Promise<void> => {
    await ask('POST', `/api/admin/projections/${encodeURIComponent(name)}/rebuild`)
    for (;;) {
      const now = (await list()).find((projection) => projection.name === name)
      if (now?.error) throw new CommandFailed(`${name} was not rebuilt: ${now.error}`)
      if (now?.state !== 'rebuilding') return
      if (now.progress) progress(now.progress)
      await after(pollMs)
    }
  }
  return {
    together: false,
    list,
    unreadable: async () => (await listing()).unreadable_events,
    async rebuild(names, progress) {
      for (const name of names) await rebuild(name, progress)
    },
    async verify() {
      throw new CommandFailed(
        'verify reads the stores themselves: stop the server, leave out --url',
      )
    },
    close: async () => undefined,
  }
}
