import type { FastifyRequest } from 'fastify'
import { refusal } from '../../domain/refusal.ts'
import type { RouteRules } from '../server/route-rules.ts'

const json = 'application/json'

/**
 * The media types that a route can answer with; undefined where `Accept` decides nothing. Whether a
 * turn is streamed is said by `stream` in the body, so SDKs may send any `Accept` with it.
 */
const typesOf = ({ answers, streams, lines }: RouteRules): readonly string[] | undefined => {
  if (answers === 'any' || streams === 'asked') return undefined
  if (answers) return [answers]
  const main = streams === 'always' ? 'text/event-stream' : json
  return lines ? [main, 'application/x-ndjson'] : [main]
}

/** How exactly a media range names a type; 0: not at all. */
const exactness = (range: string, type: string): number => {
  if (range === type) return 3
  if (range === `${type.slice(0, type.indexOf('/'))}/*`) return 2
  return range === '*/*' || range === '*' ? 1 : 0
}

const isRefused = (parameters: readonly string[]): boolean =>
  parameters.some((one) => /^q=0(?:\.0*)?$/.test(one))

/** Whether an `Accept` header admits a media type: the most exact range decides (RFC 9110, 12.5.1). */
const admits = (accept: string, type: string): boolean => {
  let best = 0
  let admitted = false
  for (const part of accept.toLowerCase().split(',')) {
    const [range = '', ...parameters] = part.split(';').map((one) => one.trim())
    const exact = exactness(range, type)
    if (exact <= best) continue
    best = exact
    admitted = !isRefused(parameters)
  }
  return admitted
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
