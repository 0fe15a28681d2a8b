/** A step as the API answers it. */
export type Step = {
  step_id: string
  parent_id: string | null
  kind: 'agent' | 'model' | 'tool' | 'approval' | 'attempt'
  name: string
  agent_name: string
  started_at: string
  duration_ms: number | null
  status: string
  tokens: number | null
  charge: number | null
  code?: string | undefined
}

export type StepRow = {
  step: Step
  /** 0 for the outermost ones. */
  depth: number
  children: number
  isExpanded: boolean
}

export type StepTree = {
  top: readonly Step[]
  childrenOf: ReadonlyMap<string, readonly Step[]>
}

const byStart = (left: Step, right: Step): number =>
  Date.parse(left.started_at) - Date.parse(right.started_at)

/**
 * The steps under their parents, each in the order of its start. A single attempt says nothing and
 * is left out; a step whose parent is not known yet is at the top.
 */
export const treeOf = (steps: readonly Step[]): StepTree => {
  const attempts = steps.filter(({ kind }) => kind === 'attempt').length
  const visibleSteps = attempts > 1 ? steps : steps.filter(({ kind }) => kind !== 'attempt')
  const ids = new Set(visibleSteps.map(({ step_id }) => step_id))
  const childrenOf = new Map<string, Step[]>()
  const top: Step[] = []
  for (const step of visibleSteps) {
    const { parent_id: parent, step_id: id } = step
    if (parent === null || parent === id || !ids.has(parent)) top.push(step)
    else {
      const siblings = childrenOf.get(parent)
      if (siblings) siblings.push(step)
      else childrenOf.set(parent, [step])
    }
  }
  for (const siblings of childrenOf.values()) siblings.sort(byStart)
  return { top: top.toSorted(byStart), childrenOf }
}

/** The steps that match and all above them; undefined: everything does. */
export const visibleSteps = (
  steps: readonly Step[],
  matches: ReadonlySet<string> | undefined,
): ReadonlySet<string> | undefined => {
  if (!matches) return undefined
  const byId = new Map(steps.map((step) => [step.step_id, step]))
  const visible = new Set<string>()
  for (const id of matches)
    for (let step = byId.get(id); step && !visible.has(step.step_id); ) {
      visible.add(step.step_id)
      step = step.parent_id === null ? undefined : byId.get(step.parent_id)
    }
  return visible
}

/** The rows of a tree from top to bottom, without those below a collapsed one. */
export const rowsOf = (
  { top, childrenOf }: StepTree,
  collapsed: ReadonlySet<string>,
  visible?: ReadonlySet<string>,
): StepRow[] => {
  const rows: StepRow[] = []
  const stack = top.toReversed().map((step) => ({ step, depth: 0 }))
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { step, depth } = next
    if (visible && !visible.has(step.step_id)) continue
    const children = childrenOf.get(step.step_id) ?? []
    const isExpanded = !collapsed.has(step.step_id)
    rows.push({ step, depth, children: children.length, isExpanded })
    if (isExpanded)
      stack.push(...children.toReversed().map((child) => ({ step: child, depth: depth + 1 })))
  }
  return rows
}

/** From the first start to the last end, in milliseconds. */
export type Span = { start: number; end: number }

export const endOf = ({ started_at, duration_ms }: Step, now: number): number => {
  const start = Date.parse(started_at)
  return duration_ms === null ? Math.max(start, now) : start + duration_ms
}

/** The time that the steps take together; open ones last until `now`. */
export const spanOf = (steps: readonly Step[], now: number): Span => {
  let start = Number.POSITIVE_INFINITY
  let end = Number.NEGATIVE_INFINITY
  for (const step of steps) {
    start = Math.min(start, Date.parse(step.started_at))
    end = Math.max(end, endOf(step, now))
  }
  return start <= end ? { start, end: Math.max(end, start + 1) } : { start: now, end: now + 1 }
}

/** Where a step's bar begins and how long it is, as parts of the span. */
export const barOf = (step: Step, { start, end }: Span, now: number) => {
  const length = end - start
  const offset = (Date.parse(step.started_at) - start) / length
  const width = (endOf(step, now) - start) / length - offset
  return { offset: Math.min(Math.max(offset, 0), 1), width: Math.min(Math.max(width, 0), 1) }
}

/** Round distances from the start, about four of them. */
export const ticksOf = ({ start, end }: Span): number[] => {
  const length = end - start
  const rough = length / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? rough
  const count = Math.floor((length * 0.95) / step)
  return Array.from({ length: count + 1 }, (_, index) => index * step)
}

const failed: ReadonlySet<string> = new Set(['failed', 'timed_out', 'denied', 'unknown', 'expired'])

export const isFailed = ({ status }: Step): boolean => failed.has(status)

/**
 * The steps to look at first: the innermost agents that failed, and then failures that an agent may
 * have gone on from.
 */
export const failuresOf = (steps: readonly Step[]): Step[] => {
  const all = steps.filter((step) => step.kind !== 'attempt' && isFailed(step))
  const agents = all.filter(({ kind }) => kind === 'agent')
  const outer = new Set(agents.map(({ parent_id }) => parent_id))
  return [
    ...agents.filter(({ step_id }) => !outer.has(step_id)),
    ...all.filter(({ kind }) => kind !== 'agent'),
  ]
}

/** Whether a step's own fields contain the words, regardless of case. */
export const stepContains = ({ name, agent_name, kind, status }: Step, words: string): boolean =>
  `${name}\n${agent_name}\n${kind}\n${status.replaceAll('_', ' ')}`
    .toLowerCase()
    .includes(words.toLowerCase())
