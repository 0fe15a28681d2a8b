import { z } from 'zod'
import { leafOfLine } from '../../transparency/leaf.ts'
import { leafHash } from '../../transparency/merkle.ts'

const event = z.object({
  id: z.string(),
  type: z.string(),
  stream: z.string(),
  revision: z.number(),
  position: z.number(),
})

/** What a line claims to be. */
export const claimOf = (line: string): string => {
  try {
    const { id, type, stream, revision, position } = event.parse(JSON.parse(line))
    return `${type} of ${stream}@${revision}, position ${position}, id ${id}`
  } catch {
    return 'something that is no event'
  }
}

/** An event in a file, and the hash of its leaf. */
export type ExportedLine = { text: string; hash: Buffer }

export const exportedLine = (text: string): ExportedLine => {
  try {
    return { text, hash: leafHash(leafOfLine(text)) }
  } catch {
    return { text, hash: leafHash(text) }
  }
}

/** Where the lines first differ from those that were signed, and what follows that place. */
export type HistoryDifference = {
  /** The index of the first event that is out of place. */
  index: number
  /** The leaf that should be there; undefined when no more events were signed. */
  expected: Buffer | undefined
  /** The event that is there instead; undefined when there is none. */
  actual: ExportedLine | undefined
  /** The line before. */
  before: ExportedLine | undefined
}

const within = (hashes: readonly Buffer[], hash: Buffer | undefined): boolean =>
  hash !== undefined && hashes.some((other) => other.equals(hash))

/** Names what was changed at the first difference, judging by what follows it. */
export const tampering = ({ index, expected, actual, before }: HistoryDifference) => {
  let expectedLater = false
  let actualLater = false
  let actualExpected = false
  const place = before ? ` after ${claimOf(before.text)}` : ' at the beginning'
  return {
    /** Leaves in the file after the difference. */
    there(hashes: readonly Buffer[]) {
      expectedLater ||= within(hashes, expected)
      actualLater ||= within(hashes, actual?.hash)
    },
    /** Leaves that should follow the difference. */
    signed(hashes: readonly Buffer[]) {
      actualExpected ||= within(hashes, actual?.hash)
    },
    name(): string {
      const moved = actualExpected && !actualLater
      if (!actual)
        return expectedLater
          ? `event ${index} was reordered: it comes later than${place}`
          : `event ${index} was dropped: it should come${place}`
      const it = claimOf(actual.text)
      if (!expected)
        return moved
          ? `events were reordered: ${it} comes${place}, before event ${index}`
          : `an event was inserted before event ${index}: ${it}`
      if (expectedLater)
        return moved
          ? `event ${index} was reordered: in its place is ${it}`
          : `an event was inserted before event ${index}: ${it}`
      if (actualExpected) return `event ${index} was dropped${place}: in its place is ${it}`
      return `event ${index} was altered: ${it}`
    },
  }
}

/** Names the first place where events are not those whose leaves were signed; undefined: none. */
export const firstTampering = (
  lines: readonly ExportedLine[],
  signed: readonly Buffer[],
  { from, before }: { from: number; before: ExportedLine | undefined },
): string | undefined => {
  const there = lines.map(({ hash }) => hash)
  const differs = there.findIndex((hash, n) => !signed[n]?.equals(hash))
  const n = differs < 0 ? there.length : differs
  if (n === there.length && n === signed.length) return undefined
  const search = tampering({
    index: from + n,
    expected: signed[n],
    actual: lines[n],
    before: lines[n - 1] ?? before,
  })
  search.there(there.slice(n + 1))
  search.signed(signed.slice(n + 1))
  return search.name()
}
