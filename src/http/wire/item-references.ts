import { Refusal, refusal } from '../../domain/refusal.ts'
import type { FindTurn, TurnQuery } from '../../turns/read/find-turn.ts'
import { runOfCall } from '../../turns/run/client-calls.ts'
import type { InputItem, ResolvedItem } from './response-input.ts'
import { callsIn, messageRun, progressOf } from './response-object.ts'

/** Each is read from the store; a request that repeats what it was told has no need of them. */
const most = 256
/** Characters, of which none is less than a byte: a request may have no more. */
const mostText = 4_194_304

const unknown = (id: string) =>
  refusal('response_not_found', { field: 'input', message: `There is no item ${id}` })

const lengthOf = (item: ResolvedItem): number => {
  if (item.type === 'function_call') return item.arguments.length
  const texts = item.type === 'message' ? item.content : []
  return texts.reduce((sum, part) => sum + ('text' in part ? part.text.length : 0), 0)
}

type Reference = Extract<InputItem, { type: 'item_reference' }>

/**
 * Replaces references by the items that they name: clients may refer to items of earlier responses
 * instead of repeating them. @throws response_not_found, too_complex
 */
export const withReferences =
  ({ find }: Pick<FindTurn, 'find'>) =>
  async (items: readonly InputItem[], who: Omit<TurnQuery, 'runId'>): Promise<ResolvedItem[]> => {
    const references = items.filter(({ type }) => type === 'item_reference')
    if (references.length > most)
      throw refusal('too_complex', {
        field: 'input',
        message: `input has more than ${most} references to items`,
      })

    const resolveItem = async ({ id }: Reference): Promise<ResolvedItem> => {
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

    const resolved: ResolvedItem[] = []
    let characters = 0
    for (const item of items) {
      if (item.type !== 'item_reference') {
        resolved.push(item)
        continue
      }
      const answer = await resolveItem(item)
      characters += lengthOf(answer)
      if (characters > mostText)
        throw refusal('payload_too_large', {
          field: 'input',
          message: 'What input refers to is larger than 4 MB together',
        })
      resolved.push(answer)
    }
    return resolved
  }
