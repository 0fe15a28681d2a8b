import { rowsOf, type Step, treeOf } from './steps.ts'

export type AlignedStep = {
  id: string
  name: string
  depth: number
  a: Step | undefined
  b: Step | undefined
}

const none: ReadonlySet<string> = new Set()

/** An approval's id is its own in each run: its place among those of its agent counts. */
const placesOf = (steps: readonly Step[]) => {
  const approvals = new Map<string | null, number>()
  const rows = rowsOf(treeOf(steps.filter(({ kind }) => kind !== 'attempt')), none)
  return rows.map(({ step, depth }) => {
    if (step.kind !== 'approval') return { id: step.step_id, step, depth }
    const count = (approvals.get(step.parent_id) ?? 0) + 1
    approvals.set(step.parent_id, count)
    return { id: `${step.parent_id} approval ${count}`, step, depth }
  })
}

/**
 * The steps of two runs by their places, in the order of the first; a step that only the second has
 * follows the one before it there.
 */
export const alignedSteps = (first: readonly Step[], second: readonly Step[]): AlignedStep[] => {
  const left = placesOf(first)
  const right = placesOf(second)
  const inLeft = new Set(left.map(({ id }) => id))
  const byId = new Map(right.map((place) => [place.id, place.step]))
  const following = new Map<string, typeof right>()
  let former = ''
  for (const place of right) {
    if (inLeft.has(place.id)) former = place.id
    else following.set(former, [...(following.get(former) ?? []), place])
  }
  const nameOf = (a: Step | undefined, b: Step | undefined): string => {
    const names = [a?.name, b?.name].filter((name) => name !== undefined)
    return [...new Set(names)].join(' → ')
  }
  const added = (id: string): AlignedStep[] =>
    (following.get(id) ?? []).map(({ id: own, step, depth }) => ({
      id: own,
      name: step.name,
      depth,
      a: undefined,
      b: step,
    }))
  return [
    ...added(''),
    ...left.flatMap(({ id, step, depth }) => {
      const b = byId.get(id)
      return [{ id, name: nameOf(step, b), depth, a: step, b }, ...added(id)]
    }),
  ]
}
