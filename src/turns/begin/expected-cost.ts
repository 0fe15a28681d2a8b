import type { AgentConfig } from '../../agents/agent.ts'
import { longestAnswer, settingsFor } from '../../agents/model-settings.ts'
import { partTokens } from '../../agents/parts.ts'
import { piecesIn } from '../../agents/tokens.ts'
import { chargeOf } from '../../domain/amounts.ts'
import { refusal } from '../../domain/refusal.ts'
import type { Call } from '../../ports/call.ts'
import type { Log } from '../../ports/log.ts'
import type { ChatMessage, Models, Price } from '../../ports/model.ts'
import { failureCode } from '../failure-code.ts'
import type { TurnRequest } from '../turn.ts'
import { limitsOf } from '../turn.ts'

/** Completion tokens that credits are reserved for when no limit is set. */
const expectedTokens = 1_024

const partsIn = (message: ChatMessage) => ('parts' in message ? (message.parts ?? []) : [])

/** Pieces of the client's tools and of their results. */
const clientPieces = ({ clientTools, results, after }: TurnRequest): number => {
  const texts = [...(results ?? []), ...(after ?? [])].map(({ content }) => content)
  if (clientTools) texts.push(JSON.stringify(clientTools.specs))
  return texts.reduce((sum, text) => sum + piecesIn(text), 0)
}

type Uses = { models: Models; log: Pick<Log, 'error'> }

/** The expected micro-credits of a turn, which are reserved until it is settled. */
export const expectedCost = ({ models, log }: Uses) => {
  /** @throws model_misconfigured when the provider of the agent's model is not configured */
  const priceOf = ({ agentId, model }: AgentConfig, { requestId }: Call): Price => {
    try {
      return models.resolve(model).price
    } catch (err) {
      log.error({ err, reqId: requestId, agent_id: agentId }, 'a run cannot begin')
      throw refusal(failureCode(err))
    }
  }

  /** @throws model_misconfigured */
  return (request: TurnRequest): number => {
    const { call, agent, message, before, system, settings, format, files } = request
    const price = priceOf(agent, call)
    const earlier = [...system, ...before].reduce((sum, { content }) => sum + piecesIn(content), 0)
    const parts = [...(files?.parts ?? []), ...before.flatMap(partsIn)]
    const inFiles = parts.reduce((sum, part) => sum + partTokens(part), 0)
    const completion = longestAnswer(settingsFor(agent, settings)) ?? expectedTokens
    const inFormat = format ? piecesIn(JSON.stringify(format)) : 0
    const prompt = earlier + piecesIn(message) + inFiles + clientPieces(request) + inFormat
    const expected = chargeOf({ promptTokens: prompt, completionTokens: completion }, price)
    return Math.min(expected, limitsOf(request).charge ?? expected)
  }
}
