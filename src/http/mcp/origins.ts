import type { onRequestHookHandler } from 'fastify'
import { refusal } from '../../domain/refusal.ts'

const local: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Web pages of other origins are refused, so that a page which takes our name for its own (DNS
 * rebinding) reaches nothing. Clients that are no browsers send no origin.
 */
export const requireOrigin = (allowed: readonly string[]): onRequestHookHandler => {
  const known = new Set(allowed)
  return ({ headers: { origin } }, _reply, done) => {
    const fits =
      origin === undefined ||
      known.has('*') ||
      known.has(origin.toLowerCase()) ||
      (URL.canParse(origin) && local.has(new URL(origin).hostname))
    done(fits ? undefined : refusal('origin_not_allowed'))
  }
}
