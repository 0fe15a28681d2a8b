import { linesIn } from '../../support/lines.ts'
import { type Checkpoint, openedCheckpoint, originOf } from '../../transparency/checkpoint.ts'
import { growing } from '../../transparency/growing.ts'
import { rootOf, unpackedHashes } from '../../transparency/merkle.ts'
import { NoteInvalid } from '../../transparency/note.ts'
import { tileWidth } from '../../transparency/tile.ts'
import {
  type Header,
  headerOf,
  knownNodes,
  rootOfEdge,
  type TileHashes,
  tileOf,
} from './export-file.ts'
import { type ExportedLine, exportedLine, tampering } from './tampering.ts'

type Options = {
  /** The verifier key that the checkpoint must be signed with; by default the key in the export. */
  vkey?: string | undefined
  /** Called with the number of events checked so far, and of all. */
  progress?(events: number, of: number): void
  /** A size to compute the root for. */
  rootAt?: number | undefined
  /** The hashes of a tile of events, for when the export's own cannot be trusted. */
  instead?: { n: number; hashes: readonly Buffer[] } | undefined
}

export type Verdict = {
  header: Header
  checkpoint: Checkpoint
  /** Of the first `rootAt` events. */
  rootAt?: Buffer
  /** The first difference from what was signed. */
  fault?: string
  /** The tile of events whose hashes would locate the difference. */
  doubtful?: number
}

/** The file is not an export: its first line is not a header. */
export class NoExport extends Error {
  override readonly name = 'NoExport'
}

/** @throws NoExport */
const openExport = (line: string, vkey: string | undefined) => {
  const header = headerOf(line)
  if (!header) throw new NoExport('the first line is not the header of an export')
  if (vkey !== undefined && vkey.trim() !== header.key)
    throw new NoExport(`the export is not signed with the key ${vkey.trim()}, but ${header.key}`)
  try {
    const checkpoint = openedCheckpoint(header.checkpoint, header.key)
    const edge = header.edge.map(unpackedHashes)
    if (checkpoint.origin !== originOf(header.organization_id))
      throw new NoExport(`the checkpoint is of ${checkpoint.origin}, not of this organization`)
    if (!rootOfEdge(edge).equals(checkpoint.root))
      throw new NoExport('the header was altered: its hashes do not come to the signed root')
    return { header, checkpoint, edge }
  } catch (error) {
    if (!(error instanceof NoteInvalid)) throw error
    throw new NoExport(`the header was altered: ${error.message}`)
  }
}

/** More events than this without hashes between them are not read further. */
const mostLines = 2 * tileWidth

/**
 * Checks an export line by line against its checkpoint, and names the first difference. About 500
 * events are in memory at most. @throws NoExport
 */
const checker = (first: string, { vkey, rootAt, instead, progress }: Options) => {
  const { header, checkpoint, edge } = openExport(first, vkey)
  const { size } = checkpoint
  const nodes = knownNodes(size, edge)
  const chunks = Math.ceil(size / tileWidth)
  const tree = growing()
  let grown = 0
  let root = rootAt === 0 ? tree.root() : undefined
  let chunk = -1
  let signed: readonly Buffer[] = []
  let sound = true
  let lines: ExportedLine[] = []
  let last: ExportedLine | undefined
  let fault: (() => string) | undefined
  let doubtful: number | undefined
  let search: ReturnType<typeof tampering> | undefined

  const failed = (text: string) => {
    fault = () => text
  }

  const range = (n: number) =>
    `events ${n * tileWidth} to ${Math.min(size, (n + 1) * tileWidth) - 1}`

  /** Compares the events of a tile with what was signed. */
  const compare = (next: number | undefined) => {
    const there = lines.map(({ hash }) => hash)
    const at = there.findIndex((hash, n) => !signed[n]?.equals(hash))
    const index = at < 0 ? there.length : at
    if (!sound) {
      const full = chunk < Math.floor(size / tileWidth)
      const root = full ? nodes.node(1, chunk) : rootOf(signed)
      if (!root) {
        const span = tileWidth ** 2
        const from = Math.floor((chunk * tileWidth) / span) * span
        return failed(
          `the hashes over events ${from} to ${from + span - 1} were dropped or altered`,
        )
      }
      if (root.equals(rootOf(there)))
        return failed(
          `the hashes of ${range(chunk)} were altered; the events are as they were signed`,
        )
      if (full) {
        doubtful = chunk
        return failed(
          `${range(chunk)} were altered, and so were their hashes; a server can tell more`,
        )
      }
    }
    const isComplete = index === signed.length
    if (isComplete && there.length > index && next !== chunk + 1 && chunk + 1 < chunks)
      return failed(`the hashes of ${range(chunk + 1)} were dropped or altered`)
    if (isComplete && there.length === index) return undefined
    const difference = {
      index: chunk * tileWidth + index,
      expected: signed[index],
      actual: lines[index],
      before: lines[index - 1] ?? last,
    }
    search = tampering(difference)
    search.there(there.slice(index + 1))
    search.signed(signed.slice(index + 1))
    fault = search.name
  }

  /** Ends a tile of events; the lines of the `next` follow, or nothing. */
  const close = (next: number | undefined) => {
    if (chunk >= 0 || lines.length > 0) compare(next)
    if (fault) return
    for (const hash of signed)
      if (root === undefined && rootAt !== undefined) {
        tree.add(hash)
        if (++grown === rootAt) root = tree.root()
      }
    last = lines.at(-1) ?? last
    lines = []
    signed = []
    if (next === undefined && chunk + 1 < chunks)
      return failed(
        `event ${(chunk + 1) * tileWidth} and all after it were dropped: the export ends`,
      )
    if (next !== undefined && next > chunk + 1)
      return failed(
        `event ${(chunk + 1) * tileWidth} was dropped, and all up to ${next * tileWidth - 1}`,
      )
    if (next !== undefined && next < chunk + 1)
      return failed(`event ${(chunk + 1) * tileWidth} was reordered: before it come ${range(next)}`)
  }

  const tile = (tileHashes: TileHashes) => {
    const next = tileHashes.n * tileWidth ** tileHashes.level
    if (lines.length > 0 || signed.length > 0 || next !== chunk + 1) close(next)
    if (fault) {
      if (tileHashes.level === 0) search?.signed(tileHashes.hashes)
      return
    }
    if (tileHashes.level > 0) {
      nodes.add(tileHashes)
      return
    }
    chunk = tileHashes.n
    const hashes = instead?.n === chunk ? instead.hashes : tileHashes.hashes
    sound = nodes.add({ ...tileHashes, hashes })
    signed = chunk < Math.floor(size / tileWidth) ? hashes : (edge[0] ?? [])
    progress?.(chunk * tileWidth, size)
  }

  return {
    line(text: string) {
      const tileHashes = tileOf(text)
      if (fault) {
        if (tileHashes?.level === 0) search?.signed(tileHashes.hashes)
        else if (!tileHashes) search?.there([exportedLine(text).hash])
      } else if (tileHashes) tile(tileHashes)
      else if (lines.push(exportedLine(text)) > mostLines) close(undefined)
    },
    end(): Verdict {
      if (!fault) close(undefined)
      progress?.(size, size)
      return {
        header,
        checkpoint,
        ...(root ? { rootAt: root } : {}),
        ...(fault ? { fault: fault() } : {}),
        ...(doubtful === undefined ? {} : { doubtful }),
      }
    },
  }
}

/** Checks an export, from itself alone. @throws NoExport */
export const verifyExport = async (path: string, options: Options): Promise<Verdict> => {
  let check: ReturnType<typeof checker> | undefined
  for await (const lines of linesIn(path))
    for (const line of lines) {
      if (check) check.line(line)
      else check = checker(line, options)
    }
  if (!check) throw new NoExport('the file is empty')
  return check.end()
}
