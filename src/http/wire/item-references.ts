import { Refusal, refusal } from '../../domain/refusal.ts'
import { runOfCall } from '../../turns/client-calls.ts'
import type { FindTurn, OneTurn } from '../../turns/find-turn.ts'
import type { InputItem, SaidItem } from './response-input.ts'
import { callsIn, messageRun, progressOf } from './response-object.ts'

/** Each is read from the store; a request that repeats what it was told has no need of them. */
const most = 256

const unknown = (id: string) =>
  refusal('response_not_found', { field: 'input', message: `There is no item ${id}` })

type Reference = Extract<InputItem, { type: 'item_reference' }>

/**
 * Puts what was answered in the place of references to it: clients name items of earlier responses in place
 * of repeating them. @throws response_not_found, too_complex
 */
export const withReferences =
  ({ find }: Pick<FindTurn, 'find'>) =>
  async (items: readonly InputItem[], who: Omit<OneTurn, 'runId'>): Promise<SaidItem[]> => {
    const references = items.filter(({ type }) => type === 'item_reference')
    if (references.length > most)
      throw refusal('too_complex', {
        field: 'input',
        message: `input has more than ${most} references to items`,
      })

    const said = async ({ id }: Reference): Promise<SaidItem> => {
      const callId = id.replace(/^fc_/, 'call_')
      const runId = messageRun(id) ?? runOfCall(callId)
      const { turn } = await find({ ...who, runId }).catch((error: unknown) => {
        throw error instanceof Refusal ? unknown(id) : error
      })
      const progress = turn && (await progressOf(turn))
      if (!progress || !('done' in progress)) throw unknown(id)
      if (callId === id) {
        const content = [{ type: 'output_text' as const, text: progress.done.text }]
        return { type: 'message', role: 'assistant', content }
      }
      const call = callsIn(progress.done).find(({ call_id }) => call_id === callId)
      if (!call) throw unknown(id)
      return call
    }

    const resolved: SaidItem[] = []
    for (const item of items)
      resolved.push(item.type === 'item_reference' ? await said(item) : item)
    return resolved
  }
