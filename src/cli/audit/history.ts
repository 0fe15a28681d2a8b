/** An organization's transparency log, whether or not a server is between. */
export type History = {
  /** The verifier key. */
  key(): Promise<string>
  /** A signed note. */
  checkpoint(): Promise<string>
  /** Nodes of a level of tiles, within one tile: from one index to before another. */
  hashes(level: number, from: number, to: number): Promise<Buffer[]>
  /** Events as lines, many at a time, from one index to before another. */
  lines(from: number, to: number): AsyncIterable<readonly string[]>
  consistency(from: number, to: number): Promise<Buffer[]>
  close(): Promise<void>
}
