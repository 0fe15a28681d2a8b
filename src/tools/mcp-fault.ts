import { OutboundRefused } from '../ports/outbound.ts'
import { unreadable } from './mcp-answers.ts'
import type { Redact } from './redaction.ts'
import { ToolFault } from './results.ts'

const longest = 1_000

/** Why a request failed, and whether the server has done what it asked for. */
type Fault = { words: string; done: 'no' | 'unknown' | 'yes' }

const wordsOfSdk: Readonly<Record<string, Fault>> = {
  REQUEST_TIMEOUT: { words: 'it did not answer in time', done: 'unknown' },
  LIST_PAGINATION_EXCEEDED: { words: 'its list of tools does not end', done: 'no' },
  INVALID_RESULT: { words: 'its answer does not follow the protocol', done: 'yes' },
  UNSUPPORTED_RESULT_TYPE: { words: 'its answer does not follow the protocol', done: 'yes' },
}

/** The connection ended after it was open. */
const ofConnection = new Set([
  'ECONNABORTED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_SOCKET',
])

const unreached: Fault = { words: 'it could not be reached', done: 'no' }
const lost: Fault = { words: 'the connection was lost', done: 'unknown' }

const versionWords = /^Server's protocol version is not supported: /

/** Undefined if the cause of the error says more. */
const faultOf = (error: Error, redacted: Redact): Fault | undefined => {
  if (error instanceof ToolFault || error instanceof OutboundRefused)
    return { words: error.message, done: 'no' }
  const code = 'code' in error ? error.code : undefined
  if (error.name === 'ProtocolError')
    return { words: redacted(error.message, longest), done: code === unreadable ? 'yes' : 'no' }
  if (versionWords.test(error.message)) {
    const version = redacted(error.message.replace(versionWords, ''), 40)
    return { words: `it speaks an unknown version of the protocol: ${version}`, done: 'no' }
  }
  if ('status' in error && typeof error.status === 'number')
    return { words: `HTTP ${error.status}`, done: error.status < 500 ? 'no' : 'unknown' }
  if (typeof code !== 'string') return undefined
  return ofConnection.has(code) ? lost : wordsOfSdk[code]
}

const faultIn = (error: unknown, redacted: Redact): Fault => {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const fault = faultOf(cause, redacted)
    if (fault) return fault
  }
  return unreached
}

/**
 * Why a server could not be asked, without anything secret that was sent; `redacted` removes that
 * from the server's own words.
 */
export const mcpFault = (error: unknown, redacted: Redact): string => faultIn(error, redacted).words

const doneWords = {
  no: '',
  unknown: '; it is not known whether the call was made',
  yes: '; the call was made, and may have had its effect',
}

/** The same of a call that was sent: a model that knows no more may repeat it. */
export const callFault = (error: unknown, redacted: Redact): string => {
  const { words, done } = faultIn(error, redacted)
  return words + doneWords[done]
}
