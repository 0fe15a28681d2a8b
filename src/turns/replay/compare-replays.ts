import { cutText } from '../../support/cut-text.ts'
import type { ModelPlace, Place, Told, ToolPlace } from './replay.ts'

/** Characters of a text in an answer; what is beyond is left out. */
const mostShown = 16_384

const shown = (text: string): string =>
  text.length <= mostShown ? text : `${cutText(text, mostShown)}… (${text.length} characters)`

const modelFields = ['model', 'system', 'tools', 'messages', 'settings', 'answer', 'calls'] as const
const toolFields = ['tool', 'arguments', 'result'] as const

type Field = (typeof modelFields)[number] | (typeof toolFields)[number] | 'agent'

const differs = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) !== JSON.stringify(other)

/** What differs between two models or two tools at one place; everything where the kinds differ. */
const changedIn = (before: Place, now: Place): Field[] => {
  const agent: Field[] = before.agent === now.agent ? [] : ['agent']
  if (before.kind === 'model' && now.kind === 'model')
    return [...agent, ...modelFields.filter((field) => differs(before[field], now[field]))]
  if (before.kind === 'tool' && now.kind === 'tool')
    return [...agent, ...toolFields.filter((field) => differs(before[field], now[field]))]
  return [...agent, 'tool', 'result']
}

const shownModel = ({ model, system, tools, answer, calls, answered }: ModelPlace) => ({
  model,
  system: shown(system),
  tools: [...tools],
  answer: shown(answer),
  calls: calls.map((call) => ({ name: call.name, arguments: shown(call.arguments) })),
  answered,
})

const shownTool = ({ tool, arguments: args, result }: ToolPlace) => ({
  tool,
  arguments: shown(args),
  result: shown(result),
})

const shownPlace = (place: Place | undefined) =>
  place
    ? {
        agent: place.agent,
        ...(place.kind === 'model' ? { asked: shownModel(place) } : { called: shownTool(place) }),
      }
    : null

/** Part by part, numbers as numbers; what is shorter comes first. */
const byParts = (one: readonly string[], other: readonly string[]): number => {
  for (const [n, a] of one.entries()) {
    const b = other[n]
    if (b === undefined) return 1
    if (a !== b) return Number(a) - Number(b) || a.localeCompare(b)
  }
  return one.length - other.length
}

/** Places by the way to their agents, then by the numbers of answers and calls. */
const inOrder = (one: string, other: string): number => {
  const [agent = '', ...numbers] = one.split('/')
  const [otherAgent = '', ...otherNumbers] = other.split('/')
  return byParts(agent.split('.'), otherAgent.split('.')) || byParts(numbers, otherNumbers)
}

/** What would change: every place at which something differs, and the answer. */
export const compared = (before: Told, now: Told) => {
  const places = [...new Set([...before.places.keys(), ...now.places.keys()])].toSorted(inOrder)
  const steps = places.flatMap((at) => {
    const [was, is] = [before.places.get(at), now.places.get(at)]
    const changed = was && is ? changedIn(was, is) : []
    if (was && is && changed.length === 0) return []
    const change = was ? (is ? ('changed' as const) : ('gone' as const)) : ('new' as const)
    return [{ at, change, changed, before: shownPlace(was), now: shownPlace(is) }]
  })
  return {
    steps,
    same: places.length - steps.length,
    answer: {
      changed: before.answer !== now.answer,
      before: shown(before.answer),
      now: shown(now.answer),
    },
    error: now.error ?? null,
  }
}
