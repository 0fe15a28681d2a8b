import { open, stat, truncate } from 'node:fs/promises'
import { linesIn } from '../../support/lines.ts'
import { openedCheckpoint, originOf } from '../../transparency/checkpoint.ts'
import { packedHashes, unpackedHashes } from '../../transparency/merkle.ts'
import { tileWidth } from '../../transparency/tile.ts'
import { CommandFailed } from '../command-failed.ts'
import {
  edgeWidths,
  type Header,
  headerLine,
  headerOf,
  knownNodes,
  rootOfEdge,
  tileLineOf,
  tileOf,
  tilesBefore,
} from './export-file.ts'
import type { History } from './history.ts'
import { type ExportedLine, exportedLine, firstTampering } from './tampering.ts'

type Export = {
  history: History
  organization: string
  path: string
  /** Called with the number of events written so far, and of all. */
  progress(events: number, of: number): void
}

/** An export in progress: its header, and the tiles of events that are already written. */
type PartialExport = { header: Header; chunks: number }

const contradiction = 'the source contradicts itself: its events do not come to what it has signed'

/** The header of a new export: the history at its present length. @throws CommandFailed */
const newHeader = async (history: History, organization_id: string): Promise<Header> => {
  const [key, checkpoint] = [await history.key(), await history.checkpoint()]
  const { origin, size, root } = openedCheckpoint(checkpoint, key)
  if (origin !== originOf(organization_id))
    throw new CommandFailed(`the source answers with a checkpoint of ${origin}`)
  const edge: Buffer[][] = []
  for (const [level, width] of edgeWidths(size).entries()) {
    const nodes = Math.floor(size / tileWidth ** level)
    edge.push(width > 0 ? await history.hashes(level, nodes - width, nodes) : [])
  }
  if (!rootOfEdge(edge).equals(root)) throw new CommandFailed(contradiction)
  return { reprise_export: 1, organization_id, key, checkpoint, edge: edge.map(packedHashes) }
}

const sizeOf = ({ checkpoint, key }: Header): number => openedCheckpoint(checkpoint, key).size

/** How many events a tile of events has. */
const widthOf = (size: number, chunk: number): number =>
  Math.min(tileWidth, size - chunk * tileWidth)

/** An export that was begun, truncated after its last complete tile of events. */
const resumed = async (path: string, organization: string): Promise<PartialExport | undefined> => {
  const stats = await stat(path).catch(() => undefined)
  if (!stats || stats.size === 0) return undefined
  let header: Header | undefined
  let [size, read, complete, chunks, events] = [0, 0, 0, 0, 0]
  scan: for await (const lines of linesIn(path))
    for (const line of lines) {
      read += Buffer.byteLength(line) + 1
      if (read > stats.size) break scan
      if (!header) {
        header = headerOf(line)
        if (header?.organization_id !== organization) break scan
        size = sizeOf(header)
        complete = read
      } else if (!tileOf(line) && ++events === widthOf(size, chunks)) {
        chunks++
        events = 0
        complete = read
      }
    }
  if (header?.organization_id !== organization)
    throw new CommandFailed(
      `${path} is there and is no export of ${organization}: name another file`,
    )
  await truncate(path, complete)
  return { header, chunks }
}

/** The events from a tile on, tile by tile. An incomplete tile at the end is left out. */
async function* eventsByTile(history: History, first: number, size: number) {
  let [chunk, held] = [first, [] as string[]]
  if (first * tileWidth < size)
    for await (const lines of history.lines(first * tileWidth, size))
      for (const line of lines) {
        held.push(line)
        if (held.length < widthOf(size, chunk)) continue
        yield held
        chunk++
        held = []
      }
}

/**
 * Writes an organization's history, as long as it is when the export begins, to a file. An
 * interrupted export continues where it stopped. At most 256 events are in memory. Answers the
 * number of events. @throws CommandFailed
 */
export const exportHistory = async (options: Export): Promise<number> => {
  const { history, organization, path, progress } = options
  const partial = await resumed(path, organization)
  const header = partial?.header ?? (await newHeader(history, organization))
  const size = sizeOf(header)
  const nodes = knownNodes(size, header.edge.map(unpackedHashes))
  const file = await open(path, 'a')
  const chunks = Math.ceil(size / tileWidth)
  const first = partial?.chunks ?? 0

  /** The tiles above a tile of events, checked against the levels above them. */
  const above = async (chunk: number): Promise<string[]> => {
    const tileLines: string[] = []
    for (const { level, n } of tilesBefore(size, chunk)) {
      if (level === 0) continue
      const hashes = await history.hashes(level, n * tileWidth, (n + 1) * tileWidth)
      const tile = { level, n, hashes }
      if (!nodes.add(tile)) throw new CommandFailed(contradiction)
      tileLines.push(tileLineOf(tile))
    }
    return tileLines
  }

  /** Names the first event of a tile that is not as it was signed. */
  const contradictionOf = async (chunk: number, lines: readonly ExportedLine[]) => {
    const from = chunk * tileWidth
    const signed = await history.hashes(0, from, from + lines.length)
    const difference = firstTampering(lines, signed, { from, before: undefined })
    return difference ? `${contradiction}: ${difference}` : contradiction
  }

  const write = async (chunk: number, events: readonly string[]): Promise<void> => {
    const tileLines = await above(chunk)
    const lines = events.map(exportedLine)
    const tile = { level: 0, n: chunk, hashes: lines.map(({ hash }) => hash) }
    if (!nodes.add(tile)) throw new CommandFailed(await contradictionOf(chunk, lines))
    await file.appendFile(`${[...tileLines, tileLineOf(tile), ...events].join('\n')}\n`)
    progress(chunk * tileWidth + events.length, size)
  }

  try {
    if (!partial) await file.appendFile(`${headerLine(header)}\n`)
    // The tiles above the first missing tile of events were written before an earlier one.
    for (let span = tileWidth ** header.edge.length; span >= tileWidth; span /= tileWidth)
      if (first % span > 0 && first < chunks) await above(first - (first % span))
    let chunk = first
    for await (const events of eventsByTile(history, first, size)) await write(chunk++, events)
    if (chunk < chunks)
      throw new CommandFailed('the source ended early: run the same command again to continue')
    await file.sync()
  } finally {
    await file.close()
  }
  return size
}
