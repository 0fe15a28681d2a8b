import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { Problem, type ProblemCode, problem, problems, type Shape } from '../../domain/problems.ts'
import { AppendTooLarge, StoreUnavailable } from '../../ports/event-store.ts'
import type { RouteRules } from '../checks/route-rules.ts'
import { InvalidRequest } from '../checks/validate.ts'

export type Group = NonNullable<RouteRules['group']>
type Body = Record<string, unknown>

const shapeOfGroup: Record<Group, Shape> = {
  chat: 'error',
  agents: 'error',
  admin: 'error',
  rag: 'rag',
  detail: 'detail',
  management: 'detail',
}

/**
 * How a refusal is told in a route group; stock SDKs need the nested 429 of /v1, and what is done to
 * provisioned users is never refused with an `error`, once it came over HTTPS.
 */
export const shapeIn = (group: Group, code: ProblemCode): Shape => {
  if (group === 'chat' && code === 'rate_limit_exceeded') return 'error'
  const shape: Shape | 'route' = problems[code].shape
  if (group === 'management' && shape === 'error' && code !== 'https_required') return 'detail'
  return shape === 'route' ? shapeOfGroup[group] : shape
}

/** Whether every refusal in the group has an `error`, also where another shape is documented. */
export const alwaysError = (group: Group): boolean => shapeOfGroup[group] === 'error'

/** The documented fields beside message, type and code. */
const extraOf = ({ extra: { param: _, message: __, ...extra } }: Problem): Body => extra

const errorOf = ({ code, message, extra: { param } }: Problem): Body => ({
  message,
  type: problems[code].type,
  code,
  ...(param === undefined ? {} : { param }),
})

const bodies: Record<Shape, (refusal: Problem) => Body> = {
  detail: (refusal) => ({ detail: refusal.message, ...extraOf(refusal) }),
  error: (refusal) => ({ error: errorOf(refusal), ...extraOf(refusal) }),
  flat: (refusal) => ({
    error: refusal.code,
    message: refusal.message,
    ...extraOf(refusal),
  }),
  list: ({ extra }) => ({ detail: extra.issues }),
  fields: ({ extra }) => ({ detail: extra.fields }),
  rag: (refusal) => ({ detail: { error: { ...errorOf(refusal), ...extraOf(refusal) } } }),
}

/**
 * The documented body of a refusal in a route group (docs/contract/errors.md#shapes). Stock SDKs read nothing
 * but `error`: where that is the group's shape, it is added to every other.
 */
export const bodyOf = (refusal: Problem, group: Group): Body => {
  const body = bodies[shapeIn(group, refusal.code)](refusal)
  if (group === 'chat' && refusal.code === 'rate_limit_exceeded')
    return { error: { ...errorOf(refusal), ...extraOf(refusal) } }
  return alwaysError(group) && !('error' in body) ? { ...body, error: errorOf(refusal) } : body
}

const issueOf = (part: string, { path, message, code }: z.core.$ZodIssue) => {
  const missing = code === 'invalid_type' && message.endsWith('received undefined')
  return {
    loc: [part, ...path.map((step) => (typeof step === 'number' ? step : String(step)))],
    msg: missing ? 'Field required' : message,
    type: missing ? 'missing' : code,
  }
}

const bodyProblem = (found: readonly z.core.$ZodIssue[], group: Group): Problem => {
  const issues = found.map((issue) => issueOf('body', issue))
  if (!alwaysError(group)) return problem('invalid_body', { issues })
  const [first] = issues
  const param = first?.loc.slice(1).join('.') || 'body'
  return first?.type === 'missing'
    ? problem('missing_required_field', { param, message: `${param} is required` })
    : problem('invalid_input', { param, message: `${param}: ${first?.msg}` })
}

const queryProblem = (found: readonly z.core.$ZodIssue[]): Problem => {
  const fields: Record<string, string[]> = {}
  for (const { code, path, message, ...issue } of found) {
    const field = String(path[0] ?? 'query')
    if (code === 'invalid_value' && 'values' in issue) {
      const allowed = (issue.values as unknown[]).join(', ')
      return problem('invalid_filter', { message: `Invalid ${field}. Allowed values: ${allowed}` })
    }
    fields[field] = [...new Set([...(fields[field] ?? []), message])]
  }
  return problem('invalid_query', { fields })
}

const fastifyCodes: Readonly<Record<string, ProblemCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'invalid_json',
}

/** Any error as the refusal that the client is told; undefined: not foreseen. */
export const refusalOf = (error: unknown, group: Group): Problem | undefined => {
  if (error instanceof Problem) return error
  if (error instanceof InvalidRequest)
    return error.part === 'body' ? bodyProblem(error.issues, group) : queryProblem(error.issues)
  if (error instanceof StoreUnavailable) return problem('service_unavailable')
  if (error instanceof AppendTooLarge)
    return problem('payload_too_large', { message: 'What is to be kept is larger than 1 MiB' })
  const { code, statusCode } = error as FastifyError
  const known = fastifyCodes[code]
  if (known) return problem(known)
  return statusCode === 400 ? problem('malformed_request') : undefined
}

const groupOf = ({ routeOptions, url }: FastifyRequest): Group =>
  routeOptions.config.group ?? (url.startsWith('/api/external') ? 'detail' : 'admin')

/** Refusals of a body before all of it was read. */
const unread: ReadonlySet<ProblemCode> = new Set(['payload_too_large', 'invalid_json'])

/**
 * Answers with a refusal in the shape of its route, its code also in `X-Error-Code`; `note` is told
 * of it when it is on its way.
 */
export const replyWith = (
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
  note: (refusal: Problem) => void = () => undefined,
) => {
  const group = groupOf(request)
  const said = refusalOf(error, group) ?? problem('internal_error')
  const { status } = problems[said.code]
  if (status >= 500) request.log.error({ err: error, code: said.code }, 'request failed')
  reply.code(status).header('x-error-code', said.code).type('application/json; charset=utf-8')
  // Not closed with a body on its way, which is dropped: the client could not read the refusal.
  if (unread.has(said.code)) reply.removeHeader('connection')
  if (status === 401) reply.header('www-authenticate', 'ApiKey')
  if (status === 402 || said.extra.window === 'hour') reply.header('x-should-retry', 'false')
  if (typeof said.extra.retry_after === 'number')
    reply.header('retry-after', said.extra.retry_after)
  reply.serializer(JSON.stringify).send(bodyOf(said, group))
  note(said)
  return reply
}
