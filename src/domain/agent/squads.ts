import type { Below } from './graph.ts'

/**
 * The root of each agent's squad. A root is run by no other; an agent in several squads counts to
 * the one whose root comes first. Each agent is looked at once.
 */
export const squadRoots = (ids: Iterable<string>, below: Below): ReadonlyMap<string, string> => {
  const all = [...ids]
  const run = new Set<string>()
  for (const id of all) for (const next of below(id)) run.add(next)
  const rootOf = new Map<string, string>()
  for (const root of all) {
    if (run.has(root)) continue
    const reached = new Set([root])
    for (const id of reached) {
      // Everything below it has been visited.
      if (rootOf.has(id)) continue
      rootOf.set(id, root)
      for (const next of below(id)) reached.add(next)
    }
  }
  return rootOf
}

/** Sorted numbers of both, each once, the smallest. */
const mergePlaces = (
  some: readonly number[],
  others: readonly number[],
  most: number,
): number[] => {
  const all: number[] = []
  let n = 0
  let m = 0
  while (all.length < most) {
    const left = some[n] ?? Infinity
    const right = others[m] ?? Infinity
    const next = Math.min(left, right)
    if (next === Infinity) break
    if (left === next) n++
    if (right === next) m++
    all.push(next)
  }
  return all
}

type AgentNames = { agentId: string; places: readonly number[] }

/**
 * The names used by each agent and all below it, as indexes into one sorted list, at most `most`.
 * Each agent is computed from its sub-agents' results, so the cost grows with the edges, not with
 * the trees.
 */
export function* namesBelow(
  ids: Iterable<string>,
  below: Below,
  placesOf: (agentId: string) => readonly number[],
  most: number,
): Generator<AgentNames> {
  const known = new Map<string, readonly number[]>()
  function* of(agentId: string): Generator<AgentNames> {
    if (known.has(agentId)) return
    known.set(agentId, [])
    let places = mergePlaces(placesOf(agentId), [], most)
    for (const next of below(agentId)) {
      yield* of(next)
      places = mergePlaces(places, known.get(next) ?? [], most)
    }
    known.set(agentId, places)
    yield { agentId, places }
  }
  for (const id of ids) yield* of(id)
}
