/** The most that a JSON value may be: bytes of its text, levels, and values in it. */
export type JsonBounds = { bytes: number; depth: number; nodes: number }

/** JSON whose form clients choose (docs/input-costs.md). */
export const freeJson: JsonBounds = { bytes: 65_536, depth: 32, nodes: 2_000 }

/** Arguments of a tool call, as a model writes them. */
export const callArguments = { depth: 32, nodes: 20_000 }

const wordsOf = ({ bytes, depth, nodes }: JsonBounds) => ({
  bytes: `more than ${bytes} bytes of JSON`,
  depth: `more than ${depth} levels deep`,
  nodes: `more than ${nodes} values`,
})

/** How many properties or items a value has, counted up to `most`. */
const widthOf = (value: object, most: number): number => {
  if (Array.isArray(value)) return value.length
  let width = 0
  for (const _ in value) if (++width > most) break
  return width
}

/**
 * Which bound a value exceeds, in words; undefined when it is within all of them. Looks at no more
 * values than `nodes`, and never recurses. A bound that is not given is not looked at.
 */
export const jsonFault = (
  value: unknown,
  {
    bytes = Infinity,
    depth: deepest = Infinity,
    nodes: most = Infinity,
  }: Partial<JsonBounds> = freeJson,
): string | undefined => {
  const words = wordsOf({ bytes, depth: deepest, nodes: most })
  let level: unknown[] = [value]
  let nodes = 0
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > deepest) return words.depth
    const below: unknown[] = []
    for (const item of level) {
      if (++nodes > most) return words.nodes
      if (typeof item !== 'object' || item === null) continue
      if (nodes + widthOf(item, most) > most) return words.nodes
      for (const value of Object.values(item)) below.push(value)
    }
    level = below
  }
  if (bytes === Infinity) return undefined
  const text = JSON.stringify(value) ?? ''
  return Buffer.byteLength(text) > bytes ? words.bytes : undefined
}
