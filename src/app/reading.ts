import { opening } from '../support/disposal.ts'
import type { Host } from './host.ts'
import { openReadSide } from './read-side.ts'
import { readYourWrites } from './read-your-writes.ts'
import { routeCommandsOf } from './route-commands.ts'
import type { Storage } from './storage.ts'
import type { Writing } from './writing.ts'

/** The read models, and the commands of routes, which wait for them. */
export const openReading = (
  { config, node, clock, log, telemetry }: Host,
  { stores, times, master, onKeyDestroyed }: Storage,
  { secrets, vault, commands }: Writing,
) =>
  opening(async (opened) => {
    const reading = opened.use(
      await openReadSide({
        stores,
        dataDir: config.DATA_DIR,
        master,
        logKeySeed: secrets.logKeySeed,
        open: vault.open,
        timePassed: times.passed,
        node,
        clock,
        log,
        telemetry,
      }),
    )
    onKeyDestroyed(reading.later.forget)
    const { waitForPosition } = reading
    const writes = readYourWrites({ waitForPosition, head: stores.events.head })
    return { ...reading, writes, routeCommands: routeCommandsOf(commands, writes) }
  })

export type Reading = Awaited<ReturnType<typeof openReading>>
