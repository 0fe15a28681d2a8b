import type { FastifyRequest } from 'fastify'
import type { Refusal } from '../../domain/refusal.ts'
import type { RefusalCode } from '../../domain/refusal-words.ts'
import type { RefusalMeter } from '../../metering/refusal-meter.ts'
import { rootCall } from '../../ports/call.ts'
import type { Clock } from '../../ports/clock.ts'
import { refusalTable } from '../errors/refusal-table.ts'

export type Refusing = {
  /** Refusals of access, for auditors. */
  refused: RefusalMeter['refused']
  /** All, for metrics. */
  countRefusal(code: RefusalCode): void
  clock: Clock
}

/**
 * Refusals of access: no credits, no right, too many requests. A request without a valid key has no
 * actor.
 */
const accessStatuses: ReadonlySet<number> = new Set([402, 403, 429])

const anId = /^[\w-]{1,64}$/

/** The user that the client asks to act for, if it is a possible id. */
const targetUserIn = (...parts: readonly unknown[]): string | undefined => {
  for (const part of parts) {
    if (typeof part !== 'object' || part === null || !('on_behalf_of' in part)) continue
    const { on_behalf_of: target } = part
    if (typeof target === 'string' && anId.test(target)) return target
  }
  return undefined
}

/** Reports refusals of access; others do not concern auditors. */
const note = (
  { refused }: Pick<Refusing, 'refused'>,
  { code }: Refusal,
  where: Omit<Parameters<Refusing['refused']>[0], 'code' | 'status'>,
): void => {
  const { status } = refusalTable[code]
  if (accessStatuses.has(status)) refused({ code, status, ...where })
}

/** Notes that a request was refused access, if its key is known. */
export const noteRefused = (
  refusing: Refusing,
  request: FastifyRequest,
  refusal: Refusal,
): void => {
  refusing.countRefusal(refusal.code)
  const { id, method, routeOptions, query, body } = request
  const call =
    request.call ?? (refusal.by ? rootCall(refusal.by, id, refusing.clock.now()) : undefined)
  if (!call) return
  const route = routeOptions.url ?? 'unknown'
  note(refusing, refusal, { call, method, route, askedFor: targetUserIn(query, body) })
}

/** Notes that a frame of a socket was refused access. */
export const noteRefusedFrame = (
  refusing: Refusing,
  refusal: Refusal,
  who: Parameters<typeof rootCall>[0] | undefined,
  frame: unknown,
): void => {
  refusing.countRefusal(refusal.code)
  const by = refusal.by ?? who
  if (!by) return
  const call = rootCall(by, refusing.clock.id(), refusing.clock.now())
  note(refusing, refusal, { call, method: 'WS', route: '/ws/chat', askedFor: targetUserIn(frame) })
}
