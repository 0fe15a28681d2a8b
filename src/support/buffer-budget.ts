/** A part of the memory in use: the bytes that one holder keeps for a client that does not read. */
export type Holder = {
  /** The holder now keeps so many bytes. It may be dropped at once. */
  hold(bytes: number): void
  /** The holder keeps nothing any more. */
  leave(): void
  /** Drops it, whatever the budget. */
  drop(): void
}

type Options = {
  /** Frees the memory. Called once for each time that it is chosen. */
  drop(): void
  /** Whether the client has read nothing lately: such holders are dropped first. */
  isStalled?(): boolean
}

/**
 * What holds no more is dropped last, so that others never cost a client its next answer, in bytes.
 */
const usualSmall = 65_536

/** So much of the budget more is given to small holders. */
const reserve = 1 / 8

/**
 * One budget over all connections, in bytes. Over it, the newest holders are dropped until the rest
 * fits: first those whose clients read nothing, small ones last.
 */
export const bufferBudget = (most: number, small = usualSmall) => {
  type Entry = Options & { bytes: number }
  /** In the order in which they began to hold something. */
  const entries = new Set<Entry>()
  let held = 0
  let dropped = 0

  const set = (entry: Entry, bytes: number): void => {
    held += bytes - entry.bytes
    if (bytes === 0) entries.delete(entry)
    else if (entry.bytes === 0) entries.add(entry)
    entry.bytes = bytes
  }

  const rankOf = ({ bytes, isStalled }: Entry): number =>
    (isStalled?.() === false ? 0 : 2) + (bytes > small ? 1 : 0)

  const first = (): Entry | undefined => {
    let holder: Entry | undefined
    let most = 0
    for (const entry of entries) {
      const rank = rankOf(entry)
      if (rank < most) continue
      holder = entry
      most = rank
    }
    return holder
  }

  const drop = (entry: Entry): void => {
    set(entry, 0)
    dropped++
    entry.drop()
  }

  const relieve = (): void => {
    while (held > most) {
      const entry = first()
      if (!entry) return
      drop(entry)
    }
  }

  return {
    /** A holder that keeps nothing yet. */
    holder(options: Options): Holder {
      const entry: Entry = { ...options, bytes: 0 }
      return {
        hold(bytes) {
          if (bytes === entry.bytes) return
          set(entry, bytes)
          // A small newcomer that grows is dropped itself: older ones need not make room for it.
          if (held > (bytes > small ? most : most * (1 + reserve))) relieve()
        },
        leave: () => set(entry, 0),
        drop: () => drop(entry),
      }
    },
    /** Bytes that are held now. */
    held: (): number => held,
    /** How often a holder was dropped. */
    dropped: (): number => dropped,
  }
}
export type BufferBudget = ReturnType<typeof bufferBudget>
