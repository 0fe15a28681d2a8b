import { cutText } from '../../support/cut-text.ts'
import type { ModelPlace, Place, Replay, ToolPlace } from './replay.ts'

/** The most characters of a text in an answer; longer texts are cut. */
const mostShown = 16_384

const excerpt = (text: string): string =>
  text.length <= mostShown ? text : `${cutText(text, mostShown)}… (${text.length} characters)`

const modelFields = ['model', 'system', 'tools', 'messages', 'settings', 'answer', 'calls'] as const
const toolFields = ['tool', 'arguments', 'result'] as const

type Field = (typeof modelFields)[number] | (typeof toolFields)[number] | 'agent'

const differs = (left: unknown, right: unknown): boolean =>
  JSON.stringify(left) !== JSON.stringify(right)

/** What differs between two models or two tools at one place; everything where the kinds differ. */
const changedIn = (before: Place, now: Place): Field[] => {
  const agent: Field[] = before.agent === now.agent ? [] : ['agent']
  if (before.kind === 'model' && now.kind === 'model')
    return [...agent, ...modelFields.filter((field) => differs(before[field], now[field]))]
  if (before.kind === 'tool' && now.kind === 'tool')
    return [...agent, ...toolFields.filter((field) => differs(before[field], now[field]))]
  return [...agent, 'tool', 'result']
}

const modelExcerpt = ({
  model,
  system,
  tools,
  answer,
  calls,
  answered: hasAnswer,
}: ModelPlace) => ({
  model,
  system: excerpt(system),
  tools: [...tools],
  answer: excerpt(answer),
  calls: calls.map((call) => ({ name: call.name, arguments: excerpt(call.arguments) })),
  answered: hasAnswer,
})

const toolExcerpt = ({ tool, arguments: args, result }: ToolPlace) => ({
  tool,
  arguments: excerpt(args),
  result: excerpt(result),
})

const placeExcerpt = (place: Place | undefined) =>
  place
    ? {
        agent: place.agent,
        ...(place.kind === 'model'
          ? { asked: modelExcerpt(place) }
          : { called: toolExcerpt(place) }),
      }
    : null

/** Part by part, numbers as numbers; the shorter list comes first. */
const byParts = (left: readonly string[], right: readonly string[]): number => {
  for (const [n, a] of left.entries()) {
    const b = right[n]
    if (b === undefined) return 1
    if (a !== b) return Number(a) - Number(b) || a.localeCompare(b)
  }
  return left.length - right.length
}

/** Places by the way to their agents, then by the numbers of answers and calls. */
const inOrder = (left: string, right: string): number => {
  const [agent = '', ...numbers] = left.split('/')
  const [otherAgent = '', ...otherNumbers] = right.split('/')
  return byParts(agent.split('.'), otherAgent.split('.')) || byParts(numbers, otherNumbers)
}

/** What would change: every place at which something differs, and the answer. */
export const compared = (before: Replay, now: Replay) => {
  const places = [...new Set([...before.places.keys(), ...now.places.keys()])].toSorted(inOrder)
  const steps = places.flatMap((at) => {
    const [was, is] = [before.places.get(at), now.places.get(at)]
    const changed = was && is ? changedIn(was, is) : []
    if (was && is && changed.length === 0) return []
    const change = was ? (is ? ('changed' as const) : ('gone' as const)) : ('new' as const)
    return [{ at, change, changed, before: placeExcerpt(was), now: placeExcerpt(is) }]
  })
  return {
    steps,
    same: places.length - steps.length,
    answer: {
      changed: before.answer !== now.answer,
      before: excerpt(before.answer),
      now: excerpt(now.answer),
    },
    error: now.error ?? null,
  }
}
