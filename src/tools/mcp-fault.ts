import { OutboundRefused } from '../ports/outbound.ts'
import { shown, ToolFault } from './results.ts'

const longest = 1_000

/**
 * Why a server could not be asked, without anything secret that was sent; `clean` removes that from
 * the server's own words.
 */
export const mcpFault = (error: unknown, clean: (text: string) => string): string => {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ToolFault || cause instanceof OutboundRefused) return cause.message
    if (cause.name === 'ProtocolError') return shown(clean(cause.message), longest)
    if ('status' in cause && typeof cause.status === 'number') return `HTTP ${cause.status}`
    if ('code' in cause && cause.code === 'REQUEST_TIMEOUT') return 'it did not answer in time'
  }
  return 'it could not be reached'
}
