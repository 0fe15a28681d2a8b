import type { Progress } from '../rebuild.ts'
import { table } from './table.ts'

type Line = {
  name: string
  position: number
  lag: number
  /** `idle`: no server is running. */
  state: string
  error?: string | undefined
}

/** The read models of an installation, whether or not a server is between. */
export type Projections = {
  list(): Promise<readonly Line[]>
  /** Resolves when the rebuilt read model is the live one. */
  rebuild(name: string, progress: (progress: Progress) => void): Promise<void>
  close(): Promise<void>
}

/** As a table: name, position, lag, state. */
export const listed = async ({ list }: Projections): Promise<string> => {
  const lines = (await list()).map(({ name, position, lag, state, error }) => [
    name,
    String(position),
    String(lag),
    error ? `${state}: ${error}` : state,
  ])
  return table([['NAME', 'POSITION', 'LAG', 'STATE'], ...lines])
}

/** Rebuilds one read model, or all one after another; tells how far it is. */
export const rebuildAll = async (
  { list, rebuild }: Projections,
  name: string | undefined,
  say: (line: string) => void,
): Promise<void> => {
  const names = name ? [name] : (await list()).map((one) => one.name)
  for (const one of names) {
    let tens = -1
    await rebuild(one, ({ events, percent }) => {
      if (Math.floor(percent / 10) === tens) return
      tens = Math.floor(percent / 10)
      say(`${one}: ${percent} %, ${events} events`)
    })
    say(`${one}: rebuilt`)
  }
}
