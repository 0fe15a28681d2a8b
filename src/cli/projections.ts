import type { Progress } from '../projector/rebuild.ts'
import type { Verified } from '../projector/verify.ts'
import { CommandFailed } from './command-failed.ts'
import { table } from './table.ts'

type Line = {
  name: string
  position: number
  lag: number
  lag_unit: 'events' | 'bytes'
  /** `idle`: no server is running. */
  state: string
  error?: string | undefined
}

type Unreadable = { position: number; stream: string; type: string; reason: string }

/** The read models of an installation, through a server or directly from the stores. */
export type Projections = {
  list(): Promise<readonly Line[]>
  /** The events that were set aside as they cannot be read. */
  unreadable(): Promise<readonly Unreadable[]>
  /** Whether several are rebuilt in one pass over the log: where no server is asked. */
  together: boolean
  /** Resolves when the rebuilt read models are the live ones. */
  rebuild(names: readonly string[], progress: (progress: Progress) => void): Promise<void>
  /** Compares a read model with a replay of the log. */
  verify(name: string): Promise<Verified>
  close(): Promise<void>
}

const words = {
  missing: 'is missing',
  extra: 'is not in the log',
  other: 'is not what the log makes of it',
} as const

/**
 * Compares one read model, or all one after another, and lists every document that differs. @throws
 * CommandFailed when one differs
 */
export const verifyAll = async (
  { list, verify }: Projections,
  name: string | undefined,
  say: (line: string) => void,
): Promise<void> => {
  const names = name ? [name] : (await list()).map((standing) => standing.name)
  let wrong = 0
  for (const projection of names) {
    const { documents, differences } = await verify(projection)
    for (const { id, kind } of differences) say(`${projection}: ${id} ${words[kind]}`)
    if (differences.length === 0) say(`${projection}: ${documents} documents, as the log has them`)
    wrong += differences.length
  }
  if (wrong > 0)
    throw new CommandFailed(`${wrong} documents differ: rebuild with reprise projections rebuild`)
}

/** As a table: name, position, lag, state. Below it the events that were set aside, if any. */
export const listed = async ({ list, unreadable }: Projections): Promise<string> => {
  const lines = (await list()).map(({ name, position, lag, lag_unit, state, error }) => [
    name,
    String(position),
    `${lag} ${lag_unit}`,
    error ? `${state}: ${error}` : state,
  ])
  const projectionTable = table([['NAME', 'POSITION', 'LAG', 'STATE'], ...lines])
  const aside = (await unreadable()).map(({ position, type, stream, reason }) => [
    String(position),
    type,
    stream,
    reason,
  ])
  if (aside.length === 0) return projectionTable
  return `${projectionTable}\n\n${table([['UNREADABLE AT', 'TYPE', 'STREAM', 'REASON'], ...aside])}`
}

/**
 * Rebuilds one read model, or all: together or one after another. Shows the progress. @throws
 * CommandFailed
 */
export const rebuildAll = async (
  { list, rebuild, together }: Projections,
  name: string | undefined,
  say: (line: string) => void,
): Promise<void> => {
  const names = name ? [name] : (await list()).map((standing) => standing.name)
  const groups = together ? [names] : names.map((projection) => [projection])
  for (const group of groups) {
    const what = group.length === 1 ? group[0] : 'all'
    let tens = -1
    await rebuild(group, ({ events, percent }) => {
      if (Math.floor(percent / 10) === tens) return
      tens = Math.floor(percent / 10)
      say(`${what}: ${percent} %, ${events} events`)
    })
    for (const projection of group) say(`${projection}: rebuilt`)
  }
}
