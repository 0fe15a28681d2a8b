import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { Refusal, refusal } from '../../domain/refusal.ts'
import type { RefusalCode } from '../../domain/refusal-words.ts'
import {
  AppendTooLarge,
  StoreDamaged,
  StoreUnavailable,
  UnreadableEvent,
} from '../../ports/event-store.ts'
import { mostErrors } from '../../support/bounded-schema.ts'
import { cutText } from '../../support/cut-text.ts'
import { WorkFailed } from '../../support/worker-handle.ts'
import { InvalidRequest } from '../checks/validate.ts'
import { jsonLine } from '../wire/json-line.ts'
import { alwaysError, bodyOf, type Group } from './bodies.ts'
import { refusalTable } from './refusal-table.ts'

const fieldRequired = 'Field required'

/** Of what a client wrote, a refusal repeats 200 characters of a name and 1,000 of a message. */
const nameOf = (text: PropertyKey): string => cutText(String(text), 200)
const wordsOf = (message: string): string => cutText(message, 1_000)

/** A field without a value is missing, whatever the schema would take. */
const issueOf = (part: string, issue: z.core.$ZodIssue) => {
  const { path, message, code } = issue
  const missing = 'input' in issue && issue.input === undefined
  return {
    path: [part, ...path.map((step) => (typeof step === 'number' ? step : nameOf(step)))],
    message: missing ? fieldRequired : wordsOf(message),
    kind: missing ? 'missing' : code,
  }
}

/** The first unknown fields of a closed object, each as an issue of its own. */
const oneByOne = (issue: z.core.$ZodIssue): z.core.$ZodIssue[] => {
  if (issue.code !== 'unrecognized_keys') return [issue]
  const { path, keys } = issue
  const names = keys.slice(0, mostErrors).map(nameOf)
  const more = keys.length > names.length ? ` and ${keys.length - names.length} more` : ''
  const message = `Unknown: ${names.join(', ')}${more}`
  return names.map((name) => ({ ...issue, path: [...path, name], message }))
}

/** The first errors of a value. */
const firstOf = (zodIssues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] =>
  zodIssues.slice(0, mostErrors).flatMap(oneByOne).slice(0, mostErrors)

/** Codes that a schema gives to what it refuses. */
const ownCodes = ['too_complex', 'unsupported_parameter', 'unsupported_content'] as const

const ownCodeOf = (issue: z.core.$ZodIssue) =>
  issue.code === 'custom' ? ownCodes.find((code) => code === issue.params?.code) : undefined

const bodyRefusal = (zodIssues: readonly z.core.$ZodIssue[], group: Group): Refusal => {
  const cause = zodIssues.find((issue) => ownCodeOf(issue) === 'too_complex') ?? zodIssues[0]
  const code = cause && ownCodeOf(cause)
  if (code) {
    const field = cause.path.map(nameOf).join('.')
    return refusal(code, { field, message: wordsOf(`${field}: ${cause.message}`) })
  }
  const issues = firstOf(zodIssues).map((issue) => issueOf('body', issue))
  if (!alwaysError(group)) return refusal('invalid_input', { issues })
  const [first] = issues
  const param = first?.path.slice(1).join('.') || 'body'
  return first?.kind === 'missing'
    ? refusal('missing_required_field', { field: param, message: `${param} is required` })
    : refusal('invalid_input', { field: param, message: `${param}: ${first?.message}` })
}

const queryRefusal = (zodIssues: readonly z.core.$ZodIssue[]): Refusal => {
  const fields = new Map<string, string[]>()
  for (const { code, path, message, ...issue } of firstOf(zodIssues)) {
    const field = nameOf(path[0] ?? 'query')
    if (code === 'invalid_value' && 'values' in issue) {
      const allowed = (issue.values as unknown[]).join(', ')
      return refusal('invalid_filter', { message: `Invalid ${field}. Allowed values: ${allowed}` })
    }
    fields.set(field, [...new Set([...(fields.get(field) ?? []), wordsOf(message)])])
  }
  return refusal('invalid_query', { fields: Object.fromEntries(fields) })
}

const fastifyCodes: Readonly<Record<string, RefusalCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'invalid_json',
}

const damagedRefusal = ({ position }: StoreDamaged): Refusal =>
  position === undefined
    ? refusal('store_damaged')
    : refusal('store_damaged', { message: `The stored event at position ${position} is damaged` })

/** No thread or process could be started: the system lacks file handles or memory. */
const isNotStarted = (error: unknown): boolean =>
  error instanceof WorkFailed && error.fault === 'start'

const unreadableRefusal = ({ place }: UnreadableEvent): Refusal =>
  refusal('stream_unreadable', {
    message: `The stored event at position ${place.position} cannot be read`,
  })

/** Any error as the refusal to answer with; undefined for unexpected errors. */
export const refusalOf = (error: unknown, group: Group): Refusal | undefined => {
  if (error instanceof Refusal) return error
  if (error instanceof InvalidRequest)
    return error.part === 'body' ? bodyRefusal(error.issues, group) : queryRefusal(error.issues)
  if (error instanceof StoreUnavailable || isNotStarted(error))
    return refusal('service_unavailable')
  if (error instanceof StoreDamaged) return damagedRefusal(error)
  if (error instanceof UnreadableEvent) return unreadableRefusal(error)
  if (error instanceof AppendTooLarge)
    return refusal('payload_too_large', { message: 'What is to be kept is larger than 1 MiB' })
  const { code, statusCode } = error as FastifyError
  const known = fastifyCodes[code]
  if (known) return refusal(known)
  // A file without read permission counts as missing.
  if (statusCode === 403 || statusCode === 404) return refusal('not_found')
  return statusCode === 400 ? refusal('malformed_request') : undefined
}

/** Of a path without a route, its beginning decides. */
const groupOf = ({ routeOptions, url }: FastifyRequest): Group => {
  const { group } = routeOptions.config
  if (group) return group
  if (/^\/api\/external\/v1(?![^/?])/.test(url)) return 'chat'
  return url.startsWith('/api/external') ? 'detail' : 'admin'
}

/** Seconds until a store that could not be reached may be worth another try. */
const unavailableRetryAfter = 1

/**
 * Refusals that stay for a while, whatever their status says: stock SDKs are told not to try again.
 */
const lasting: ReadonlySet<RefusalCode> = new Set([
  'insufficient_credits',
  'model_misconfigured',
  'invalid_model_output',
  'turn_cancelled',
  'store_damaged',
  'stream_unreadable',
])

/** Refusals that are sent before the whole body was read. */
const unread: ReadonlySet<RefusalCode> = new Set(['payload_too_large', 'invalid_json'])

/**
 * Answers with a refusal in the shape of its route, with its code in `X-Error-Code`; calls `note`
 * once it is sent.
 */
export const replyWith = (
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
  note: (refusal: Refusal) => void = () => undefined,
) => {
  const group = groupOf(request)
  const problem = refusalOf(error, group) ?? refusal('internal_error')
  const { status } = refusalTable[problem.code]
  // What was refused on purpose was logged where its cause was met.
  if (status >= 500)
    request.log.error(
      { code: problem.code, ...(error instanceof Refusal ? {} : { err: error }) },
      'request failed',
    )
  reply.code(status).header('x-error-code', problem.code).type('application/json; charset=utf-8')
  // The connection stays open: closing it while the body still arrives would lose the answer.
  if (unread.has(problem.code)) reply.removeHeader('connection')
  if (status === 401) reply.header('www-authenticate', 'ApiKey')
  if (lasting.has(problem.code) || problem.facts.window === 'hour')
    reply.header('x-should-retry', 'false')
  const {
    retryAfter = problem.code === 'service_unavailable' ? unavailableRetryAfter : undefined,
  } = problem.facts
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter)
  reply.serializer(jsonLine).send(bodyOf(problem, group))
  note(problem)
  return reply
}
