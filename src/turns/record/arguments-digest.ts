import { createHash } from 'node:crypto'
import { callArguments } from '../../support/json-bounds.ts'
import { isTooComplex } from '../../support/json-text.ts'
import { canonicalJson } from '../../transparency/canonical-json.ts'

const parsed = (text: string): unknown => {
  if (isTooComplex(text, callArguments)) return undefined
  try {
    return JSON.parse(text.trim() || '{}')
  } catch {
    return undefined
  }
}

/**
 * SHA-256, in hex, of a call's arguments as canonical JSON (RFC 8785): the same for the same
 * arguments however a model writes them. What is no JSON, or beyond the bounds of a call, is
 * digested as it is.
 */
export const digestOf = (text: string): string => {
  const value = parsed(text)
  return createHash('sha256')
    .update(value === undefined ? text : canonicalJson(value))
    .digest('hex')
}
