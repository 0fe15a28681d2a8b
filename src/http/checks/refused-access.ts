import type { FastifyRequest } from 'fastify'
import type { Problem } from '../../domain/problems.ts'
import { rootCall } from '../../ports/call.ts'
import type { Clock } from '../../ports/clock.ts'
import type { RefusalMeter } from '../../reactors/meter-refusals.ts'

export type Refusing = { refused: RefusalMeter['refused']; clock: Clock }

const anId = /^[\w-]{1,64}$/

/** Whom a client says that it acts for, as far as that could be anybody. */
const askedForIn = (...parts: readonly unknown[]): string | undefined => {
  for (const part of parts) {
    if (typeof part !== 'object' || part === null || !('on_behalf_of' in part)) continue
    const { on_behalf_of: target } = part
    if (typeof target === 'string' && anId.test(target)) return target
  }
  return undefined
}

/** Notes a refused request, if its key is known. */
export const noteRefused = (
  { refused, clock }: Refusing,
  request: FastifyRequest,
  refusal: Problem,
): void => {
  const { id, method, routeOptions, query, body } = request
  const call = request.call ?? (refusal.by ? rootCall(refusal.by, id, clock.now()) : undefined)
  if (!call) return
  const route = routeOptions.url ?? 'unknown'
  refused({ refusal, call, method, route, askedFor: askedForIn(query, body) })
}

/** Notes a refused frame of a socket. */
export const noteRefusedFrame = (
  { refused, clock }: Refusing,
  refusal: Problem,
  who: Parameters<typeof rootCall>[0] | undefined,
  frame: unknown,
): void => {
  const by = refusal.by ?? who
  if (!by) return
  const call = rootCall(by, clock.id(), clock.now())
  refused({ refusal, call, method: 'WS', route: '/ws/chat', askedFor: askedForIn(frame) })
}
