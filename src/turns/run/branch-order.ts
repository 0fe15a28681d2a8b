import type { TurnItem } from '../turn-items.ts'

/** What parallel agents mark with the branches that it came through, the outermost first. */
type Placed = Extract<TurnItem, { path?: readonly number[] }>
type Token = Extract<TurnItem, { event: 'token' }>

type Parallel = {
  names: readonly string[]
  branches: Branch[]
  current: number
  /** A paragraph stands before the first branch. */
  follows: boolean
}

/** Where one branch is, or the turn itself; at most one parallel agent runs in it at a time. */
type Branch = {
  open?: Parallel
  waiting: { item: Placed; path: readonly number[] }[]
  headed: boolean
}

const between = '\n\n'
const failed = '(could not answer)'

const newBranch = (): Branch => ({ waiting: [], headed: false })

const isPlaced = (item: TurnItem): item is Placed =>
  item.event === 'token' || item.event === 'branches_began' || item.event === 'branch_ended'

const token = (agent: string, step_id: string, text: string): Token => ({
  event: 'token',
  agent,
  step_id,
  text,
})

/**
 * Puts the tokens of parallel branches one branch after another, in the configured order, under
 * their agents' names, so that the tokens add up to the stored answer. The branch whose
 * turn it is passes at once, the others wait. The same items always give the same order.
 */
export const branchOrder = (): ((item: TurnItem) => TurnItem[]) => {
  const turn = newBranch()

  /** The name over a branch's text, before its first token. */
  const heading = (parallel: Parallel, n: number, { agent, step_id }: Token): Token[] => {
    const branch = parallel.branches[n]
    if (!branch || branch.headed) return []
    branch.headed = true
    const first = n === 0 && !parallel.follows ? '' : between
    return [token(agent, step_id, `${first}${parallel.names[n]}:\n`)]
  }

  const advance = (parallel: Parallel, within: Branch): TurnItem[] => {
    parallel.current++
    const next = parallel.branches[parallel.current]
    if (!next) {
      delete within.open
      return []
    }
    const { current } = parallel
    return next.waiting
      .splice(0)
      .flatMap(({ item, path }) => inBranch(parallel, within, current, item, path))
  }

  const inBranch = (
    parallel: Parallel,
    within: Branch,
    n: number,
    item: Placed,
    path: readonly number[],
  ): TurnItem[] => {
    const branch = parallel.branches[n]
    if (!branch) return []
    if (n !== parallel.current) {
      branch.waiting.push({ item, path })
      return []
    }
    if (item.event === 'branch_ended' && path.length === 0) {
      const { agent, step_id } = item
      const named = heading(parallel, n, token(agent, step_id, ''))
      const silent = named.length > 0 && !item.answered ? [token(agent, step_id, failed)] : []
      return [...named, ...silent, ...advance(parallel, within)]
    }
    const named = item.event === 'token' ? heading(parallel, n, item) : []
    return [...named, ...placed(branch, item, path)]
  }

  const placed = (within: Branch, item: Placed, path: readonly number[]): TurnItem[] => {
    const { open } = within
    if (item.event === 'branches_began' && path.length === 0) {
      const { names } = item
      within.open = { names, branches: names.map(newBranch), current: 0, follows: false }
      return []
    }
    const [n, ...rest] = path
    if (n === undefined || !open) return item.event === 'token' ? [item] : []
    if (item.event !== 'token' || item.follows !== path.length)
      return inBranch(open, within, n, item, rest)
    open.follows = true
    const { follows, ...own } = item
    return inBranch(open, within, n, { ...own, text: own.text.slice(between.length) }, rest)
  }

  /** What waits when the turn ends before its branches. */
  const drained = (within: Branch): TurnItem[] => {
    const items: TurnItem[] = []
    while (within.open) {
      const { open } = within
      const branch = open.branches[open.current]
      if (branch) items.push(...drained(branch))
      items.push(...advance(open, within))
    }
    return items
  }

  return (item) => {
    if (item.event === 'done' || item.event === 'failed') return [...drained(turn), item]
    if (item.event === 'token_agent') return []
    return isPlaced(item) ? placed(turn, item, item.path ?? []) : [item]
  }
}
