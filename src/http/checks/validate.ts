import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyRequest, FastifySchemaCompiler } from 'fastify'
import type { z } from 'zod'
import { refusal } from '../../domain/refusal.ts'
import { complexity, isHarmless, malformation } from './json-text.ts'
import { readBody } from './read-body.ts'

/** A request that does not match its route's schema; the reply is shaped for the route's group. */
export class InvalidRequest extends Error {
  override readonly name = 'InvalidRequest'
  readonly part: string
  readonly issues: readonly z.core.$ZodIssue[]
  constructor(part: string, issues: readonly z.core.$ZodIssue[]) {
    super(`The ${part} does not fit`)
    this.part = part
    this.issues = issues
  }
}

/** A value without its fields that are null: they count as absent. */
const withoutNulls = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null))
    : value

/**
 * What is wrong with a value that a schema refuses, each with its `input`. A required field that is
 * null is missing.
 */
export const issuesOf = (
  schema: z.ZodType,
  value: unknown,
  refused: z.ZodSafeParseError<unknown>,
): readonly z.core.$ZodIssue[] =>
  schema.safeParse(withoutNulls(value), { reportInput: true }).error?.issues ?? refused.error.issues

/**
 * zod parses every part of a request once, and handlers get the parsed value. A missing body lacks
 * every field.
 */
export const validatorCompiler: FastifySchemaCompiler<z.ZodType> =
  ({ schema, httpPart = 'body' }) =>
  (value: unknown) => {
    const parsed = schema.safeParse(value)
    if (parsed.success) return { value: parsed.data }
    return { error: new InvalidRequest(httpPart, issuesOf(schema, value ?? {}, parsed)) }
  }

const compressed = () =>
  refusal('unsupported_media_type', { message: 'The body must be JSON without a Content-Encoding' })

const otherCharset = () =>
  refusal('unsupported_media_type', { message: 'The body must be JSON in UTF-8' })

const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i
const utf8 = /^utf-?8$/i

/** Whether a content type names another charset than UTF-8. */
const isOtherwiseEncoded = (contentType = ''): boolean => {
  const [, name] = charset.exec(contentType) ?? []
  return name !== undefined && !utf8.test(name)
}

type ParsedBody = (error: Error | null, value?: unknown) => void

/** Undefined for what is not JSON. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * JSON bodies: not compressed, in UTF-8, no `__proto__`, no half of a surrogate pair, and within
 * bounds. An empty body of any type counts as no body. Those of unknown paths are not read.
 */
export const parseJson = (http: FastifyInstance): void => {
  http.decorateRequest('bodyIdentity', undefined)
  const parse = http.getDefaultJsonParser('error', 'error')
  http.removeAllContentTypeParsers()
  const parseBody = (request: FastifyRequest, body: Buffer, done: ParsedBody) => {
    if (body.length === 0) return done(null, undefined)
    const { 'content-encoding': coding = 'identity' } = request.headers
    if (coding !== 'identity') return done(compressed())
    if (isOtherwiseEncoded(request.headers['content-type'])) return done(otherCharset())
    if (!isUtf8(body)) return done(refusal('invalid_json'))
    const text = body.toString()
    const fault = complexity(text, request.routeOptions.config.mostValues)
    if (fault) return done(fault)
    if (isHarmless(text)) {
      const value = parsed(text)
      return value === undefined ? done(refusal('invalid_json')) : done(null, value)
    }
    void parse(request, text, (error, value) =>
      done(error ? refusal('invalid_json') : (malformation(text, value) ?? null), value),
    )
  }
  http.addContentTypeParser(
    /^application\/(?:[\w.!#$&^-]+\+)?json(?:$|[ ;])/i,
    (request, _payload, done) => {
      if (request.is404) return done(null, undefined)
      readBody(request, (error, body) =>
        body ? parseBody(request, body, done) : done(error, undefined),
      )
    },
  )
  http.addContentTypeParser('*', ({ headers, is404 }, _body, done) => {
    const { 'content-length': length = '0', 'transfer-encoding': coding } = headers
    const none = length === '0' && coding === undefined
    done(none || is404 ? null : refusal('unsupported_media_type'), undefined)
  })
}
