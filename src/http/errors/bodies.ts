import type { Refusal } from '../../domain/refusal.ts'
import type { RefusalCode } from '../../domain/refusal-words.ts'
import type { RouteRules } from '../server/route-rules.ts'
import { type Body, extraOf, messageOf, paramOf } from './facts.ts'
import { refusalTable, type Shape } from './refusal-table.ts'

export type Group = NonNullable<RouteRules['group']>

const shapeOfGroup: Record<Group, Shape> = {
  chat: 'error',
  agents: 'error',
  admin: 'error',
  rag: 'rag',
  detail: 'detail',
  management: 'detail',
}

/**
 * The shape of a refusal in a route group. Stock SDKs need the nested 429 of /v1; the management
 * group answers with `detail`, except before HTTPS is established.
 */
export const shapeIn = (group: Group, code: RefusalCode): Shape => {
  if (group === 'chat' && code === 'rate_limit_exceeded') return 'error'
  const shape: Shape | 'route' = refusalTable[code].shape
  if (group === 'management' && shape === 'error' && code !== 'https_required') return 'detail'
  return shape === 'route' ? shapeOfGroup[group] : shape
}

/** Whether every refusal in the group has an `error`, also beside another documented shape. */
export const alwaysError = (group: Group): boolean => shapeOfGroup[group] === 'error'

/** All shapes that a refusal may have in a route group: a body's faults are listed one by one. */
export const shapesIn = (group: Group, code: RefusalCode): readonly Shape[] =>
  code === 'invalid_input' && !alwaysError(group)
    ? ['list', shapeIn(group, code)]
    : [shapeIn(group, code)]

const shapeOf = ({ code, facts }: Refusal, group: Group): Shape =>
  facts.issues && shapesIn(group, code).includes('list') ? 'list' : shapeIn(group, code)

/** Refusals whose `param` is null, as OpenAI has it: no field is to blame. */
const aboutNone: ReadonlySet<RefusalCode> = new Set(['method_not_allowed', 'invalid_json'])

/** A refusal as stock SDKs read it. */
export const errorOf = (refusal: Refusal) => {
  const { code } = refusal
  const param = paramOf(refusal)
  const error = { message: messageOf(refusal), type: refusalTable[code].type, code }
  return param === undefined ? error : { ...error, param }
}

/** The same in an answer over HTTP. */
const httpErrorOf = (refusal: Refusal) => {
  const { code } = refusal
  const isNull = refusalTable[code].status === 401 || aboutNone.has(code)
  const error = errorOf(refusal)
  return isNull ? { ...error, param: paramOf(refusal) ?? null } : error
}

/** All that a refusal says, in one object. */
export const wholeErrorOf = (refusal: Refusal) => ({ ...errorOf(refusal), ...extraOf(refusal) })

const bodies: Record<Shape, (refusal: Refusal) => Body> = {
  detail: (refusal) => ({ detail: messageOf(refusal), ...extraOf(refusal) }),
  error: (refusal) => ({ error: httpErrorOf(refusal), ...extraOf(refusal) }),
  flat: (refusal) => ({
    error: refusal.code,
    message: messageOf(refusal),
    ...extraOf(refusal),
  }),
  list: (refusal) => ({ detail: extraOf(refusal).issues }),
  fields: (refusal) => ({ detail: extraOf(refusal).fields }),
  rag: (refusal) => ({ detail: { error: wholeErrorOf(refusal) } }),
}

/**
 * The documented body of a refusal in a route group (docs/contract/errors.md#shapes). Stock SDKs
 * read only `error`: in groups of that shape it is added to every other shape.
 */
export const bodyOf = (refusal: Refusal, group: Group): Body => {
  const body = bodies[shapeOf(refusal, group)](refusal)
  if (group === 'chat' && refusal.code === 'rate_limit_exceeded')
    return { error: wholeErrorOf(refusal) }
  return alwaysError(group) && !('error' in body) ? { ...body, error: httpErrorOf(refusal) } : body
}
