/** How long one write of read models may hold the event loop, in milliseconds. */
const pieceMs = 8
/** The same while a read model is rebuilt: requests then wait for its folding too. */
const rebuildPieceMs = 4
/** So many changed documents are written at once at least, and at most. */
const [least, most] = [128, 1_024]
/** Smaller writes say little about the cost of a change. */
const telling = 64
/** The weight of the latest write. */
const latest = 0.25
/** A write that took longer counts as so many times what was expected: other work may have held it up. */
const longest = 2

type Table = { changed: { readonly size: number } }

/**
 * How many changes of a read model are written at once: as many as take some milliseconds, told by how
 * long its writes took before. More at once cost less: a document that changes twice is written once,
 * and neighbours share pages.
 */
export const writePace = () => {
  /** Of a change, in milliseconds. */
  const costs = new WeakMap<Table, number>()
  const costOf = (table: Table): number => costs.get(table) ?? pieceMs / least

  return {
    /** Whether what waits of a table is enough to be written. */
    isDue: (table: Table, rebuilds = false): boolean => {
      const { size } = table.changed
      const enoughMs = rebuilds ? rebuildPieceMs : pieceMs
      return size >= least && (size >= most || size * costOf(table) >= enoughMs)
    },

    /** The first of some tables, and others with it that are small. */
    piece<Some extends Table>(tables: Iterable<Some>): Some[] {
      const piece: Some[] = []
      let ms = 0
      for (const table of tables) {
        const own = table.changed.size * costOf(table)
        if (piece.length > 0 && ms + own > pieceMs) continue
        piece.push(table)
        ms += own
      }
      return piece
    },

    /** To be called before a write; what it answers, with how long the write took. */
    writing(tables: readonly Table[]): (ms: number) => void {
      const changes = tables.reduce((sum, { changed }) => sum + changed.size, 0)
      const expected = tables.reduce((sum, table) => sum + table.changed.size * costOf(table), 0)
      return (ms) => {
        if (changes < telling) return
        const factor = 1 + (Math.min(ms / expected, longest) - 1) * latest
        for (const table of tables) costs.set(table, costOf(table) * factor)
      }
    },
  }
}
