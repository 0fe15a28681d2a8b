import { z } from 'zod'
import { creditUnit, saturate } from '../src/domain/amounts.ts'

/** What the schemas of many read models are made of. */
export const text = z.string()
export const id = z.uuid()
export const count = z.int()
export const timestamp = z.iso.datetime()
export const micro = z.int().describe('Micro-credits')

/** An amount as it is shown; documents hold it in micro-credits. */
export const credits = z.number().describe('Credits')
export const inCredits = (amount: number): number => amount / creditUnit

/** A duration in whole milliseconds, of a count with fractions. */
export const wholeMs = (ms: number): number => Math.round(saturate(ms))

/** Milliseconds from one time to another: at least 0, as clocks of two processes differ. */
export const msBetween = (start: string, end: string): number =>
  Math.max(0, Date.parse(end) - Date.parse(start))

/** Log position that orders a list: events share times, and clocks of nodes differ. */
export const listPosition = z.int()

/** True in some documents and absent in all others, so that an index holds only those. */
export const flag = z.literal(true).optional()

/** True in a document that lacks an unreadable event of its stream; otherwise absent. */
export const incomplete = flag.describe('An event of it cannot be read: it may lack what that says')

/** A sealed text as it is shown: opened, unless its key is destroyed. */
export const opened = z.union([text, z.object({ erased: z.literal(true) })])
