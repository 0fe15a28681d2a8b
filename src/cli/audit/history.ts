/** An organization's transparency log, through a server or directly from the stores. */
export type History = {
  /** The verifier key. */
  key(): Promise<string>
  /** A signed note. */
  checkpoint(): Promise<string>
  /** Nodes of one tile of a level, from one index to before another. */
  hashes(level: number, from: number, to: number): Promise<Buffer[]>
  /** Events as lines, many at a time, from one index to before another. */
  lines(from: number, to: number): AsyncIterable<readonly string[]>
  consistency(from: number, to: number): Promise<Buffer[]>
  close(): Promise<void>
}
