import { z } from 'zod'

const event = z.object({
  type: z.string(),
  stream: z.string(),
  revision: z.number(),
  position: z.number(),
})

/** What a line says that it is. */
export const told = (line: string): string => {
  try {
    const { type, stream, revision, position } = event.parse(JSON.parse(line))
    return `${type} of ${stream}@${revision}, position ${position}`
  } catch {
    return 'something that is no event'
  }
}

/** An event that is said to be in a file, and the hash of its leaf. */
export type ExportedLine = { text: string; hash: Buffer }

/** Where lines stop being those that were signed, and what is after that place. */
export type HistoryDifference = {
  /** The index of the first event that is not where it should be. */
  index: number
  /** The leaf that should be there; undefined where no more events were signed. */
  wanted: Buffer | undefined
  /** What is there instead; undefined where nothing is. */
  found: ExportedLine | undefined
  /** The line before. */
  before: ExportedLine | undefined
}

const within = (hashes: readonly Buffer[], hash: Buffer | undefined): boolean =>
  hash !== undefined && hashes.some((one) => one.equals(hash))

/** Names what was done at the first difference, from whatever comes behind it. */
export const tampering = ({ index, wanted, found, before }: HistoryDifference) => {
  let wantedLater = false
  let foundAgain = false
  let foundWanted = false
  const place = before ? ` after ${told(before.text)}` : ' at the beginning'
  return {
    /** Leaves that are in the file behind the difference. */
    there(hashes: readonly Buffer[]) {
      wantedLater ||= within(hashes, wanted)
      foundAgain ||= within(hashes, found?.hash)
    },
    /** Leaves that should come behind the difference. */
    signed(hashes: readonly Buffer[]) {
      foundWanted ||= within(hashes, found?.hash)
    },
    name(): string {
      const moved = foundWanted && !foundAgain
      if (!found)
        return wantedLater
          ? `event ${index} was reordered: it comes later than${place}`
          : `event ${index} was dropped: it should come${place}`
      const it = told(found.text)
      if (!wanted)
        return moved
          ? `events were reordered: ${it} comes${place}, before event ${index}`
          : `an event was inserted before event ${index}: ${it}`
      if (wantedLater)
        return moved
          ? `event ${index} was reordered: in its place is ${it}`
          : `an event was inserted before event ${index}: ${it}`
      if (foundWanted) return `event ${index} was dropped${place}: in its place is ${it}`
      return `event ${index} was altered: ${it}`
    },
  }
}
