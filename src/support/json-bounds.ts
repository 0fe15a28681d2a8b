/** The most that a JSON value may be: bytes of its text, levels, and values in it. */
export type JsonBounds = { bytes: number; depth: number; nodes: number }

/** JSON whose form clients choose (docs/decisions/0014-bounds.md). */
export const freeJson: JsonBounds = { bytes: 65_536, depth: 32, nodes: 2_000 }

const wordsOf = ({ bytes, depth, nodes }: JsonBounds) => ({
  bytes: `more than ${bytes} bytes of JSON`,
  depth: `more than ${depth} levels deep`,
  nodes: `more than ${nodes} values`,
})

/**
 * Which bound a value exceeds, in words; undefined when it is within all of them. Looks at no more
 * values than `nodes`, and never recurses.
 */
export const jsonFault = (value: unknown, bounds: JsonBounds = freeJson): string | undefined => {
  const words = wordsOf(bounds)
  let level: unknown[] = [value]
  let nodes = 0
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > bounds.depth) return words.depth
    const below: unknown[] = []
    for (const one of level) {
      if (++nodes > bounds.nodes) return words.nodes
      if (typeof one !== 'object' || one === null) continue
      const inner = Object.values(one)
      if (nodes + inner.length > bounds.nodes) return words.nodes
      for (const value of inner) below.push(value)
    }
    level = below
  }
  const text = JSON.stringify(value) ?? ''
  return Buffer.byteLength(text) > bounds.bytes ? words.bytes : undefined
}
