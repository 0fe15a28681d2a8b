import { OutboundRefused } from '../ports/outbound.ts'
import type { Redact } from './redaction.ts'
import { ToolFault } from './results.ts'

const longest = 1_000

/**
 * Why a server could not be asked, without anything secret that was sent; `redacted` removes that
 * from the server's own words.
 */
export const mcpFault = (error: unknown, redacted: Redact): string => {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ToolFault || cause instanceof OutboundRefused) return cause.message
    if (cause.name === 'ProtocolError') return redacted(cause.message, longest)
    if ('status' in cause && typeof cause.status === 'number') return `HTTP ${cause.status}`
    if ('code' in cause && cause.code === 'REQUEST_TIMEOUT') return 'it did not answer in time'
  }
  return 'it could not be reached'
}
