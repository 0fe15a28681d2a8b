import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { FindRepeatedRun } from '../../queries/find-repeated-run.ts'
import type { Clock } from '../ports/clock.ts'
import type { LiveTurn } from '../turns/turn.ts'
import type { Turns } from '../turns/turns.ts'

const header = 'x-stainless-retry-count'
const recognisedMs = 600_000

/** What two requests have in common that a stock SDK made of one; undefined for other clients. */
export const fingerprintOf = (request: FastifyRequest): string | undefined => {
  if (request.headers[header] === undefined) return undefined
  const { access, rawBody, url } = request
  return createHash('sha256')
    .update(`${access.keyId}\n${access.organizationId}\n${url}\n`)
    .update(rawBody ?? '')
    .digest('base64url')
}

type Uses = { turns: Turns; findRepeatedRun: FindRepeatedRun; clock: Clock }

/**
 * A stock SDK repeats a failed request as it was, with a retry count: the repetition is answered by
 * the turn that the first one began, unless that turn failed (decisions, section 3).
 */
export const repeats = ({ turns, findRepeatedRun, clock }: Uses) => {
  const recent = new LRUCache<string, string>({ max: 50_000, ttl: recognisedMs })
  return {
    note: (fingerprint: string, { runId }: LiveTurn): unknown => recent.set(fingerprint, runId),
    /** The run that answers this request already. */
    async before(request: FastifyRequest, fingerprint: string): Promise<string | undefined> {
      if (Number(request.headers[header]) < 1) return undefined
      const turn = turns.find(recent.get(fingerprint) ?? '')
      if (turn) {
        const ended = await Promise.race([turn.outcome, undefined])
        return ended?.status === 'failed' ? undefined : turn.runId
      }
      return (await findRepeatedRun(fingerprint, clock.now()))?.run_id
    },
  }
}
export type Repeats = ReturnType<typeof repeats>
