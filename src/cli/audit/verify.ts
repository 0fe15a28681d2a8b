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

type Checks = Parameters<typeof verifyExport>[1]

/** Checks an export by itself; a server's hashes decide doubtful tiles. @throws CommandFailed */
const verifyFile = async (
  path: string,
  server: History | undefined,
  checks: Omit<Checks, 'instead'>,
): Promise<Verdict> => {
  const verify = (instead?: Checks['instead']): Promise<Verdict> =>
    verifyExport(path, { ...checks, instead }).catch((error) => {
      throw error instanceof NoExport ? new CommandFailed(`${path}: ${error.message}`) : error
    })
  let verdict = await verify()
  const n = verdict.doubtful
  if (server && n !== undefined) {
    const hashes = await server.hashes(0, n * tileWidth, (n + 1) * tileWidth)
    verdict = await verify({ n, hashes })
  }
  if (verdict.fault) throw new CommandFailed(`${path}: ${verdict.fault}`)
  return verdict
}

/** Checks that a server's history continues a verified one, and is as it has signed it. */
const verifyServer = async (
  server: History,
  checkpoint: Checkpoint,
  key: string,
  progress: Verify['progress'],
): Promise<string[]> => {
  const signed = opened(await server.checkpoint(), key, 'what the server has signed')
  if (signed.size < checkpoint.size)
    throw new CommandFailed(`the server knows of ${signed.size} events only: its history was cut`)
  await requireConsistent(server, checkpoint, signed, 'the server has another history')
  const contradiction = await contradictionIn({ history: server, signed, progress })
  if (contradiction)
    throw new CommandFailed(`what the server serves is not what it has signed: ${contradiction}`)
  return [
    `the server's history of ${signed.size} events goes on from there`,
    `the ${signed.size} events that it serves are as it has signed them`,
  ]
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
    const { progress } = options
    const checks = { vkey, rootAt: trusted?.size, progress }
    const { checkpoint, rootAt } = await verifyFile(path, server, checks)
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
    if (server)
      report.push(...(await verifyServer(server, checkpoint, vkey ?? header.key, progress)))
    return report
  } finally {
    await server?.close()
  }
}
