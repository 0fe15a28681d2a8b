import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { Refusal, refusal } from '../../domain/refusal.ts'
import type { RefusalCode } from '../../domain/refusal-words.ts'
import { AppendTooLarge, StoreDamaged, StoreUnavailable } from '../../ports/event-store.ts'
import { InvalidRequest } from '../checks/validate.ts'
import { jsonLine } from '../wire/json-line.ts'
import { alwaysError, bodyOf, type Group } from './bodies.ts'
import { refusalTable } from './refusal-table.ts'

const fieldRequired = 'Field required'

/** A field without a value is missing, whatever the schema would take. */
const issueOf = (part: string, issue: z.core.$ZodIssue) => {
  const { path, message, code } = issue
  const missing = 'input' in issue && issue.input === undefined
  return {
    path: [part, ...path.map((step) => (typeof step === 'number' ? step : String(step)))],
    message: missing ? fieldRequired : message,
    kind: missing ? 'missing' : code,
  }
}

/** Every unknown field of a closed object as an issue of its own. */
const oneByOne = (issue: z.core.$ZodIssue): z.core.$ZodIssue[] =>
  issue.code === 'unrecognized_keys'
    ? issue.keys.map((key) => ({
        ...issue,
        path: [...issue.path, key],
        message: `Unknown: ${issue.keys.join(', ')}`,
      }))
    : [issue]

/** Codes that a schema gives to what it refuses. */
const ownCodes = ['too_complex', 'unsupported_parameter', 'unsupported_content'] as const

const ownCodeOf = (issue: z.core.$ZodIssue) =>
  issue.code === 'custom' ? ownCodes.find((code) => code === issue.params?.code) : undefined

const bodyRefusal = (found: readonly z.core.$ZodIssue[], group: Group): Refusal => {
  const told = found.find((issue) => ownCodeOf(issue) === 'too_complex') ?? found[0]
  const code = told && ownCodeOf(told)
  if (code) {
    const field = told.path.join('.')
    return refusal(code, { field, message: `${field}: ${told.message}` })
  }
  const issues = found.flatMap(oneByOne).map((issue) => issueOf('body', issue))
  if (!alwaysError(group)) return refusal('invalid_input', { issues })
  const [first] = issues
  const param = first?.path.slice(1).join('.') || 'body'
  return first?.kind === 'missing'
    ? refusal('missing_required_field', { field: param, message: `${param} is required` })
    : refusal('invalid_input', { field: param, message: `${param}: ${first?.message}` })
}

const queryRefusal = (found: readonly z.core.$ZodIssue[]): Refusal => {
  const fields = new Map<string, string[]>()
  for (const { code, path, message, ...issue } of found.flatMap(oneByOne)) {
    const field = String(path[0] ?? 'query')
    if (code === 'invalid_value' && 'values' in issue) {
      const allowed = (issue.values as unknown[]).join(', ')
      return refusal('invalid_filter', { message: `Invalid ${field}. Allowed values: ${allowed}` })
    }
    fields.set(field, [...new Set([...(fields.get(field) ?? []), message])])
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

/** Any error as the refusal to answer with; undefined for unexpected errors. */
export const refusalOf = (error: unknown, group: Group): Refusal | undefined => {
  if (error instanceof Refusal) return error
  if (error instanceof InvalidRequest)
    return error.part === 'body' ? bodyRefusal(error.issues, group) : queryRefusal(error.issues)
  if (error instanceof StoreUnavailable) return refusal('service_unavailable')
  if (error instanceof StoreDamaged) return damagedRefusal(error)
  if (error instanceof AppendTooLarge)
    return refusal('payload_too_large', { message: 'What is to be kept is larger than 1 MiB' })
  const { code, statusCode } = error as FastifyError
  const known = fastifyCodes[code]
  if (known) return refusal(known)
  // A file that may not be read is one that is not there.
  if (statusCode === 403 || statusCode === 404) return refusal('not_found')
  return statusCode === 400 ? refusal('malformed_request') : undefined
}

const groupOf = ({ routeOptions, url }: FastifyRequest): Group =>
  routeOptions.config.group ?? (url.startsWith('/api/external') ? 'detail' : 'admin')

/** Seconds until a store that could not be reached may be worth another try. */
const unavailableRetryAfter = 1

/** Refusals that stay for a while, whatever their status says: stock SDKs are told not to try again. */
const lasting: ReadonlySet<RefusalCode> = new Set([
  'insufficient_credits',
  'model_misconfigured',
  'invalid_model_output',
  'store_damaged',
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
  const said = refusalOf(error, group) ?? refusal('internal_error')
  const { status } = refusalTable[said.code]
  // What was refused on purpose was logged where its cause was met.
  if (status >= 500)
    request.log.error(
      { code: said.code, ...(error instanceof Refusal ? {} : { err: error }) },
      'request failed',
    )
  reply.code(status).header('x-error-code', said.code).type('application/json; charset=utf-8')
  // The connection stays open: closing it while the body still arrives would lose the answer.
  if (unread.has(said.code)) reply.removeHeader('connection')
  if (status === 401) reply.header('www-authenticate', 'ApiKey')
  if (lasting.has(said.code) || said.facts.window === 'hour')
    reply.header('x-should-retry', 'false')
  const { retryAfter = said.code === 'service_unavailable' ? unavailableRetryAfter : undefined } =
    said.facts
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter)
  reply.serializer(jsonLine).send(bodyOf(said, group))
  note(said)
  return reply
}
