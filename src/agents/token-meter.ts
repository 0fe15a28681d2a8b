import { chargeOf, saturate } from '../domain/amounts.ts'
import type { Price, Usage } from '../ports/model.ts'
import type { AgentEvent, Charge } from './agent-event.ts'
import type { RecordedUse } from './journal.ts'

type Used = { model: string; price: Price; usage: Usage }

/** A call under way. */
type Call = { step: string; model: string; price: Price; promptTokens: number; characters: number }

const charactersPerToken = 4

export const plus = (left: Usage, right: Usage): Usage => ({
  promptTokens: saturate(left.promptTokens + right.promptTokens),
  completionTokens: saturate(left.completionTokens + right.completionTokens),
})

export const noUsage: Usage = { promptTokens: 0, completionTokens: 0 }

/** Adds what a call used to its model; of several prices of a model the latest is charged. */
const added = (all: readonly Used[], { model, price, usage }: Used): Used[] =>
  all.some((entry) => entry.model === model)
    ? all.map((entry) =>
        entry.model === model ? { model, price, usage: plus(entry.usage, usage) } : entry,
      )
    : [...all, { model, price, usage }]

const underWay = ({ model, price, promptTokens, characters }: Call): Used => {
  const completionTokens = Math.ceil(characters / charactersPerToken)
  return { model, price, usage: { promptTokens, completionTokens } }
}

const charged = ({ model, price, usage }: Used): Charge => ({
  model,
  price,
  usage,
  charge: chargeOf(usage, price),
})

/**
 * Sums up what a turn used, event by event. At any moment the sum is what would be charged if the
 * turn ended there: a call under way counts its prompt and the text so far, both estimated.
 * `before` is the use of earlier attempts: replaying their answers does not count them again.
 */
export const tokenMeter = (before: RecordedUse['answers'] = []) => {
  /** By model, in the order in which they first answered. */
  let usages: readonly Used[] = before.reduce<readonly Used[]>(added, [])
  const open: Call[] = []

  const openAt = (step: string) => open.findIndex((call) => call.step === step)

  const see = (event: AgentEvent): void => {
    if ('replayed' in event && event.replayed) return
    if (event.event === 'token') {
      const call = open[openAt(event.step_id)]
      if (call) call.characters += event.text.length
    } else if (event.event === 'model_called') {
      const { step_id: step, model, price, prompt_tokens: promptTokens } = event
      open.push({ step, model, price, promptTokens, characters: 0 })
    } else if (event.event === 'model_answered') {
      const at = openAt(event.step_id)
      if (at !== -1) open.splice(at, 1)
      usages = added(usages, event)
    }
  }

  const sumOf = (used: readonly Used[]): { usage: Usage; charges: Charge[] } => {
    const charges = used.map(charged)
    return { usage: charges.map(({ usage }) => usage).reduce(plus, noUsage), charges }
  }

  return {
    see,
    total: () => sumOf(open.map(underWay).reduce<readonly Used[]>(added, usages)),
    /**
     * Without calls under way: of a run that fails, the call that failed is among those, and free.
     */
    answered: () => sumOf(usages),
  }
}
export type TokenMeter = ReturnType<typeof tokenMeter>
