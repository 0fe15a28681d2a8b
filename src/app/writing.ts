import { opening } from '../support/disposal.ts'
import { checkKeys } from './check-keys.ts'
import type { Host } from './host.ts'
import { openModels } from './models.ts'
import type { Storage } from './storage.ts'
import { writeSide } from './write-side.ts'

/**
 * The commands, and the models that they check agents against.
 * @throws KeysMismatch, ModelMisconfigured
 */
export const openWriting = (
  { config, options, clock, telemetry, log }: Host,
  { stores, times, master }: Storage,
) =>
  opening(async (opened) => {
    const { models, embedder } = opened.use(
      await openModels({ config, transport: options.transport, log }),
    )
    const { modelFault } = models
    const writing = writeSide({ stores, master, clock, times, modelFault, telemetry, log })
    const { registerKeys } = writing.commands
    const { events, keys } = stores
    await checkKeys({ events, keys, vault: writing.vault, registerKeys, clock })
    return { ...writing, models, embedder }
  })

export type Writing = Awaited<ReturnType<typeof openWriting>>
