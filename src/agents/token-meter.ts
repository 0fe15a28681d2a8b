import type { Price, Usage } from '../ports/model.ts'
import type { AgentEvent, Charge } from './agent-event.ts'
import type { RecordedUse } from './journal.ts'

type Call = { model: string; promptTokens: number; characters: number }

const charactersPerToken = 4

export const plus = (left: Usage, right: Usage): Usage => ({
  promptTokens: left.promptTokens + right.promptTokens,
  completionTokens: left.completionTokens + right.completionTokens,
})

export const noUsage: Usage = { promptTokens: 0, completionTokens: 0 }

/**
 * Sums up what a turn used, event by event. At any moment the sum is what would be charged if the
 * turn ended there: a call under way counts its prompt and the text so far, both estimated. `before` is what
 * earlier attempts used: answers among it count once, and not again when they are told again.
 */
export const tokenMeter = (before: RecordedUse['answers'] = []) => {
  const closed = new Map<string, Usage>()
  const prices = new Map<string, Price>()
  const open = new Map<string, Call>()

  const answered = ({ model, price, usage }: RecordedUse['answers'][number]): void => {
    prices.set(model, price)
    closed.set(model, plus(closed.get(model) ?? noUsage, usage))
  }
  for (const one of before) answered(one)

  const see = (event: AgentEvent): void => {
    if ('replayed' in event && event.replayed) return
    if (event.event === 'token') {
      const call = open.get(event.step_id)
      if (call) call.characters += event.text.length
    } else if (event.event === 'model_called') {
      const { step_id, model, price, prompt_tokens } = event
      prices.set(model, price)
      open.set(step_id, { model, promptTokens: prompt_tokens, characters: 0 })
    } else if (event.event === 'model_answered') {
      open.delete(event.step_id)
      answered(event)
    }
  }

  const total = (): { usage: Usage; charges: Charge[] } => {
    const used = new Map(closed)
    for (const { model, promptTokens, characters } of open.values()) {
      const completionTokens = Math.ceil(characters / charactersPerToken)
      used.set(model, plus(used.get(model) ?? noUsage, { promptTokens, completionTokens }))
    }
    const charges = [...used].map(([model, usage]) => {
      const price = prices.get(model) ?? { prompt: 0, completion: 0 }
      const charge = usage.promptTokens * price.prompt + usage.completionTokens * price.completion
      return { model, usage, charge: Math.ceil(charge) }
    })
    return { usage: charges.map(({ usage }) => usage).reduce(plus, noUsage), charges }
  }

  return { see, total }
}
