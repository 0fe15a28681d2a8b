import { keyUsageMeter } from '../metering/key-usage-meter.ts'
import { readMeter } from '../metering/read-meter.ts'
import { refusalMeter } from '../metering/refusal-meter.ts'
import { opening } from '../support/disposal.ts'
import type { Host } from './host.ts'
import type { Writing } from './writing.ts'

/** Counts of requests, refusals and reads of messages, recorded periodically. */
export const openMeters = ({ clock, log }: Host, { commands }: Writing) =>
  opening(async (opened) => ({
    keyUsage: opened.use(keyUsageMeter({ record: commands.recordKeyUsage, clock, log })),
    reads: opened.use(readMeter({ record: commands.recordMessageRead, clock, log })),
    refusals: opened.use(refusalMeter({ record: commands.recordRefusal, clock, log })),
  }))

export type Meters = Awaited<ReturnType<typeof openMeters>>
