import type { FastifyRequest } from 'fastify'
import { refusal } from '../../domain/refusal.ts'
import type { RouteRules } from '../server/route-rules.ts'
import { admits } from '../wire/accept.ts'

const json = 'application/json'

/**
 * The media types that a route can answer with; undefined where `Accept` decides nothing. Whether a
 * turn is streamed is said by `stream` in the body, so SDKs may send any `Accept` with it.
 */
const typesOf = ({ answers, streams, lines, rows }: RouteRules): readonly string[] | undefined => {
  if (answers === 'any' || streams === 'asked') return undefined
  if (answers) return [answers]
  const main = streams === 'always' ? 'text/event-stream' : json
  return [main, ...(lines ? ['application/x-ndjson'] : []), ...(rows ? ['text/csv'] : [])]
}

/**
 * Refuses what no media type of the route would satisfy, before anything is done. Many clients ask
 * for JSON whatever they ask for: that is always admitted.
 */
export const acceptable = (rules: RouteRules) => {
  const types = typesOf(rules)
  if (!types) return undefined
  const admitted = [...types, json]
  /** @throws not_acceptable */
  return ({ headers: { accept } }: FastifyRequest): void => {
    if (!accept || accept === '*/*' || accept === json) return
    if (admitted.some((type) => admits(accept, type))) return
    const message = `This answers with ${types.join(' or ')}: send an Accept header that admits it`
    throw refusal('not_acceptable', { message })
  }
}
