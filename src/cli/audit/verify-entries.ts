import { growing } from '../../transparency/growing.ts'
import { rootOf } from '../../transparency/merkle.ts'
import { tileWidth } from '../../transparency/tile.ts'
import type { History } from './history.ts'
import { type ExportedLine, exportedLine, firstTampering } from './tampering.ts'

type Signed = { size: number; root: Buffer }

type Options = {
  history: Pick<History, 'lines' | 'hashes'>
  /** What the history must come to. */
  signed: Signed
  progress(events: number, of: number): void
}

const last = (n: number, size: number): number => Math.min(size, n) - 1

/**
 * Computes the leaf of every event that a history serves, and its root from them. Answers where
 * they first contradict what was signed; undefined: nowhere. At most 256 events are in memory.
 */
export const contradictionIn = async (options: Options): Promise<string | undefined> => {
  const { history, signed, progress } = options
  const { size, root } = signed
  const tree = growing()
  let [read, events, before] = [0, [] as ExportedLine[], undefined as ExportedLine | undefined]
  let above: readonly Buffer[] = []

  /** The signed root of a full tile of events. */
  const rootAt = async (n: number): Promise<Buffer | undefined> => {
    if (n % tileWidth === 0) {
      const full = Math.floor(size / tileWidth)
      above = await history.hashes(1, n, Math.min(n + tileWidth, full))
    }
    return above[n % tileWidth]
  }

  const check = async (): Promise<string | undefined> => {
    const from = read - events.length
    const hashes = events.map(({ hash }) => hash)
    for (const hash of hashes) tree.add(hash)
    const full = events.length === tileWidth
    if (full && (await rootAt(from / tileWidth))?.equals(rootOf(hashes))) return undefined
    const to = last(from + tileWidth, size) + 1
    const fault = firstTampering(events, await history.hashes(0, from, to), { from, before })
    if (fault ?? full)
      return fault ?? `events ${from} to ${to - 1} were altered, and so were their hashes`
    return undefined
  }

  for await (const lines of history.lines(0, size))
    for (const line of lines) {
      read++
      events.push(exportedLine(line))
      if (events.length < tileWidth) continue
      const fault = await check()
      if (fault) return fault
      before = events.at(-1)
      events = []
      progress(read, size)
    }
  if (events.length > 0 || read < size) {
    const fault = await check()
    if (fault) return fault
  }
  progress(read, size)
  if (tree.root().equals(root)) return undefined
  return `its ${size} events were altered, and so were the hashes over them`
}
