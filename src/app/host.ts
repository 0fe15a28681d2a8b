import type { FastifyBaseLogger } from 'fastify'
import { configuredModels, type ModelsConfig } from '../adapters/models/registry.ts'
import type { Config } from '../config.ts'
import { workMetrics } from '../http/server/work-metrics.ts'
import type { SocketTimes } from '../http/ws/connection.ts'
import type { Clock } from '../ports/clock.ts'
import type { StoreDamaged } from '../ports/event-store.ts'
import { bufferBudget } from '../support/buffer-budget.ts'
import { bufferBytes } from './buffer-bytes.ts'
import { modelsConfigOf } from './models.ts'
import { systemClock } from './system-clock.ts'
import { openTelemetry } from './telemetry.ts'
import { version } from './version.ts'
import type { StoreWait } from './wait-for-store.ts'

type GenerationLimits = {
  /** Between two polls of a provider. */
  pollMs?: number
  /** How long one answer of the provider may take. */
  timeoutMs?: number
  /** Larger files are not stored. */
  maxBytes?: number
}

export type AppOptions = {
  log: FastifyBaseLogger
  /** How many log lines could not be written. */
  logLinesDropped?: () => number
  clock?: Clock
  /** How long a stream is silent before a comment line keeps it alive. */
  keepAliveMs?: number
  /** How long clients on sockets are waited for. */
  socketTimes?: Partial<SocketTimes>
  /** How often the rights of streams and sockets are looked at. */
  rightsLookMs?: number
  /** How long model providers are waited for. */
  transport?: ModelsConfig['transport']
  /** How often a generation is polled, and how large its files may be. */
  generation?: GenerationLimits
  /** Hosts that files of messages may be fetched from although they are private, for tests. */
  privateHosts?: readonly string[]
  /** How long databases are waited for at the start. */
  storeWait?: StoreWait
  /** Called with a damaged page of the embedded log that is found after the start. */
  onDamaged?(error: StoreDamaged): void
  /** Positions that the embedded log leaves out before each append, for tests. */
  positionGap?: number
  /** Where the console is built to, for tests. */
  consoleFolder?: string
  /**
   * Whether what is folded later is folded and read in a process of its own, where stores are
   * embedded.
   */
  laterApart?: boolean
}

/** The process that all parts run in: its configuration, clock, log and measurements. */
export const openHost = async (config: Config, options: AppOptions) => {
  const { log, clock = systemClock } = options
  const work = workMetrics(configuredModels(modelsConfigOf(config)))
  const buffers = bufferBudget(bufferBytes())
  const { telemetry, close } = await openTelemetry({ config, metricsNow: work.now, version })
  /** `node` identifies this process until it ends. */
  return { config, options, node: clock.id(), clock, log, work, buffers, telemetry, close }
}

export type Host = Awaited<ReturnType<typeof openHost>>
