import { setTimeout as after } from 'node:timers/promises'
import { z } from 'zod'
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
const answer = z.object({ projections: z.array(status) })

/** The read models of a running server. */
export const remoteProjections = (ask: Remote): Projections => {
  const list = async () => answer.parse(await ask('GET', '/api/admin/projections')).projections
  return {
    list,
    async rebuild(name, progress) {
      await ask('POST', `/api/admin/projections/${encodeURIComponent(name)}/rebuild`)
      for (;;) {
        const now = (await list()).find((one) => one.name === name)
        if (now?.error) throw new CommandFailed(`${name} was not rebuilt: ${now.error}`)
        if (now?.state !== 'rebuilding') return
        if (now.progress) progress(now.progress)
        await after(pollMs)
      }
    },
    async verify() {
      throw new CommandFailed(
        'verify reads the stores themselves: stop the server, leave out --url',
      )
    },
    close: async () => undefined,
  }
}
