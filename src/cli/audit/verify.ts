import { readFile } from 'node:fs/promises'
import { linesIn } from '../../support/lines.ts'
import { type Checkpoint, openedCheckpoint } from '../../transparency/checkpoint.ts'
import { NoteInvalid } from '../../transparency/note.ts'
import { isConsistent } from '../../transparency/proofs.ts'
import { tileWidth } from '../../transparency/tile.ts'
import { CommandFailed } from '../command-failed.ts'
import { type Header, headerOf } from './export-file.ts'
import type { History } from './history.ts'
import { contradictionIn } from './verify-entries.ts'
import { NoExport, type Verdict, verifyExport } from './verify-export.ts'

type Verify = {
  path: string
  /** A file with a checkpoint that was saved earlier or later. */
  checkpoint?: string | undefined
  /** The verifier key that was saved. */
  vkey?: string | undefined
  /** The history as a server serves it now. */
  live?: ((organization: string) => Promise<History>) | undefined
  progress(events: number, of: number): void
}

const firstLine = async (path: string): Promise<Header> => {
  try {
    for await (const [line = ''] of linesIn(path)) {
      const header = headerOf(line)
      if (header) return header
      break
    }
  } catch (error) {
    throw new CommandFailed(`${path} cannot be read: ${error instanceof Error && error.message}`)
  }
  throw new CommandFailed(`${path} is no export: its first line is not the header of one`)
}

const opened = (note: string, key: string, whose: string): Checkpoint => {
  try {
    return openedCheckpoint(note, key)
  } catch (error) {
    if (!(error instanceof NoteInvalid)) throw error
    throw new CommandFailed(`${whose} cannot be trusted: ${error.message}`)
  }
}

/**
 * Checks with a server's proof that one history is the beginning of another. @throws CommandFailed
 */
const requireConsistent = async (
  live: History,
  first: Checkpoint,
  then: Checkpoint,
  what: string,
) => {
  const [before, after] = [first.root, then.root]
  const proof = first.size > 0 ? await live.consistency(first.size, then.size) : []
  if (!isConsistent({ from: first.size, to: then.size, before, after, proof }))
    throw new CommandFailed(`${what}: the history of ${first.size} events was rewritten`)
}

/**
 * Checks an export by itself, against a saved checkpoint, and against a server. Answers a line for
 * each check. @throws CommandFailed, naming the first difference
 */
export const verifyHistory = async ({ path, live, ...options }: Verify): Promise<string[]> => {
  const header = await firstLine(path)
  const server = await live?.(header.organization_id)
  try {
    const vkey = options.vkey?.trim() ?? (server && (await server.key()))
    const note = options.checkpoint && (await readFile(options.checkpoint, 'utf8'))
    const trusted = note ? opened(note, vkey ?? header.key, options.checkpoint ?? '') : undefined
    const checked = (instead?: { n: number; hashes: readonly Buffer[] }): Promise<Verdict> =>
      verifyExport(path, {
        vkey,
        rootAt: trusted?.size,
        instead,
        progress: options.progress,
      }).catch((error) => {
        throw error instanceof NoExport ? new CommandFailed(`${path}: ${error.message}`) : error
      })
    let verdict = await checked()
    const n = verdict.doubtful
    if (server && n !== undefined) {
      const hashes = await server.hashes(0, n * tileWidth, (n + 1) * tileWidth)
      verdict = await checked({ n, hashes })
    }
    if (verdict.fault) throw new CommandFailed(`${path}: ${verdict.fault}`)

    const { checkpoint, rootAt } = verdict
    const { size, origin } = checkpoint
    const report = [`${size} events of ${origin} are as they were signed`]
    report.push(
      vkey ? `signed with ${vkey}` : `signed with ${header.key}, as the export itself says`,
    )
    if (trusted && trusted.origin !== origin)
      throw new CommandFailed(`${options.checkpoint} is a checkpoint of ${trusted.origin}`)
    if (trusted && trusted.size > size) {
      if (!server)
        throw new CommandFailed(
          `${options.checkpoint} is of ${trusted.size} events, the export has ${size}: ask a server (--url)`,
        )
      await requireConsistent(
        server,
        checkpoint,
        trusted,
        `${options.checkpoint} is of another history`,
      )
    } else if (trusted && !rootAt?.equals(trusted.root))
      throw new CommandFailed(
        `${options.checkpoint} is of another history: its ${trusted.size} events are not these`,
      )
    if (trusted) report.push(`the checkpoint of ${trusted.size} events is of the same history`)
    if (server) {
      const now = opened(
        await server.checkpoint(),
        vkey ?? header.key,
        'what the server has signed',
      )
      if (now.size < size)
        throw new CommandFailed(`the server knows of ${now.size} events only: its history was cut`)
      await requireConsistent(server, checkpoint, now, 'the server has another history')
      report.push(`the server's history of ${now.size} events goes on from there`)
      const { progress } = options
      const contradiction = await contradictionIn({ history: server, signed: now, progress })
      if (contradiction)
        throw new CommandFailed(
          `what the server serves is not what it has signed: ${contradiction}`,
        )
      report.push(`the ${now.size} events that it serves are as it has signed them`)
    }
    return report
  } finally {
    await server?.close()
  }
}
