import { refusal } from '../refusal.ts'
import type { Sealed } from '../sealed.ts'
import type { DoubtfulCall, SessionEvent } from './events.ts'

type ToolOutcome = SessionEvent<'ToolOutcomeTold'>['data']

/** A call of the run under way of which it is, or was, not known whether it was made. */
export type Doubt = Pick<DoubtfulCall, 'toolId' | 'at' | 'argumentsDigest'> & {
  /** Undefined: it is not known yet. */
  outcome?: ToolOutcome['outcome']
  /** A process that runs the run has been told. */
  told: boolean
}

/** How the events of doubtful calls change which there are. */
export const evolveDoubts = {
  /** What was said of a call while the run was under way still stands. */
  paused: (doubts: readonly Doubt[], calls: readonly DoubtfulCall[] = []): readonly Doubt[] => {
    const known = doubts.filter(({ outcome }) => outcome !== undefined)
    const isUnheard = (at: string) => known.some((doubt) => doubt.at === at && !doubt.told)
    const open = calls.filter(({ at }) => !isUnheard(at))
    const openPlaces = new Set(open.map(({ at }) => at))
    return [
      ...known.filter(({ at }) => !openPlaces.has(at)),
      ...open.map(({ toolId, at, argumentsDigest }) => ({
        toolId,
        at,
        argumentsDigest,
        told: false,
      })),
    ]
  },
  outcomeTold: (doubts: readonly Doubt[], { at, outcome }: ToolOutcome): readonly Doubt[] =>
    doubts.map((doubt) => (doubt.at === at ? { ...doubt, outcome } : doubt)),
  resumed: (doubts: readonly Doubt[]): readonly Doubt[] =>
    doubts.map((doubt) => (doubt.outcome === undefined ? doubt : { ...doubt, told: true })),
}

/** Whether an outcome was said that no process has been told. */
export const hasNews = (doubts: readonly Doubt[]): boolean =>
  doubts.some((doubt) => doubt.outcome !== undefined && !doubt.told)

export type TellOutcome = {
  runId: string
  toolId: string
  /** Of the arguments that were looked at: tells calls with one id apart. */
  argumentsDigest: string | undefined
  outcome: ToolOutcome['outcome']
  result: Sealed | undefined
  /** The user who says it; null for the platform. */
  by: string | null
}

type State = { running: { runId: string } | null; doubts: readonly Doubt[] }

/**
 * Records the outcome of a call once. Models may give several calls one id: then the digest of the
 * arguments decides, and of equal ones the first. @throws tool_not_in_doubt, arguments_changed
 */
export const decideOutcome =
  ({ runId, toolId, argumentsDigest, outcome, result, by }: TellOutcome) =>
  ({ running, doubts }: State): SessionEvent<'ToolOutcomeTold'>[] => {
    const open = running?.runId === runId ? doubts : []
    const named = open.filter((doubt) => doubt.toolId === toolId && doubt.outcome === undefined)
    if (named.length === 0) throw refusal('tool_not_in_doubt')
    const digests = new Set(named.map((doubt) => doubt.argumentsDigest))
    if (argumentsDigest === undefined && digests.size > 1)
      throw refusal('arguments_changed', {
        message: 'Several calls in doubt have this id: name the digest of the arguments',
      })
    const call = named.find(
      (doubt) => argumentsDigest === undefined || doubt.argumentsDigest === argumentsDigest,
    )
    if (!call) throw refusal('arguments_changed')
    const { at } = call
    const more = result ? { result } : {}
    return [{ type: 'ToolOutcomeTold', data: { runId, toolId, at, outcome, ...more, by } }]
  }
