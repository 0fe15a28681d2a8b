import { z } from 'zod'
import type { RefusalCode } from '../../domain/refusal-words.ts'
import { alwaysError, type Group, shapesIn } from './bodies.ts'
import { refusalTable, type Shape } from './refusal-table.ts'

const error = z.looseObject({
  message: z.string(),
  type: z.string(),
  code: z.string(),
  param: z.string().nullish(),
})

const issue = z.object({
  loc: z.array(z.union([z.string(), z.int()])),
  msg: z.string(),
  type: z.string(),
})

const shapes = {
  detail: z.looseObject({ detail: z.string() }),
  error: z.looseObject({ error }),
  flat: z.looseObject({ error: z.string(), message: z.string() }),
  list: z.object({ detail: z.array(issue) }),
  fields: z.object({ detail: z.record(z.string(), z.array(z.string())) }),
  rag: z.object({ detail: z.object({ error }) }),
} as const satisfies Record<Shape, z.ZodObject>

const withError = z.object({ error })

/**
 * The body of a refusal; in groups where every refusal has an `error`, the other shapes have it
 * too.
 */
const schemaOf = (shape: Shape, group: Group): z.ZodObject => {
  const schema: z.ZodObject = shapes[shape]
  return alwaysError(group) && shape !== 'flat' ? schema.extend(withError.shape) : schema
}

/** Refusals that any route under a key may answer, besides its own. */
const everywhere: readonly RefusalCode[] = [
  'missing_api_key',
  'invalid_api_key',
  'invalid_session',
  'origin_not_allowed',
  'invalid_csrf_token',
  'https_required',
  'organization_access_denied',
  'insufficient_scopes',
  'rate_limit_exceeded',
  'invalid_plan',
  'invalid_query',
  'invalid_json',
  'too_complex',
  'reserved_name',
  'payload_too_large',
  'unsupported_media_type',
  'not_acceptable',
  'internal_error',
  'service_unavailable',
  'store_damaged',
]

/** Refusals that any route without a key may answer. */
const inTheOpen: readonly RefusalCode[] = [
  'too_complex',
  'invalid_query',
  'internal_error',
  'service_unavailable',
  'store_damaged',
]

const ofBodies = (group: Group): readonly RefusalCode[] =>
  alwaysError(group) ? ['missing_required_field', 'invalid_input'] : ['invalid_input']

/** Most routes share most of their answers, and schemas take long to make. */
const cache = new Map<string, z.ZodType>()

const answer = (
  group: Group,
  codesByShape: ReadonlyMap<Shape, readonly RefusalCode[]>,
): z.ZodType => {
  const words = [...new Set([...codesByShape.values()].flat())].join(', ')
  const key = [group, ...codesByShape.keys(), words].join(' ')
  const known = cache.get(key)
  if (known) return known
  const [first = shapes.error, ...rest] = [...codesByShape.keys()].map((shape) =>
    schemaOf(shape, group),
  )
  const schema = (rest.length > 0 ? z.union([first, ...rest]) : first).describe(words)
  cache.set(key, schema)
  return schema
}

const described = (group: Group, codes: readonly RefusalCode[]) => {
  const byStatus = new Map<number, Map<Shape, RefusalCode[]>>()
  for (const code of new Set(codes)) {
    const { status } = refusalTable[code]
    const codesByShape = byStatus.get(status) ?? new Map<Shape, RefusalCode[]>()
    for (const shape of shapesIn(group, code))
      codesByShape.set(shape, [...(codesByShape.get(shape) ?? []), code])
    byStatus.set(status, codesByShape)
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codesByShape]) => [status, answer(group, codesByShape)]),
  )
}

/** The error answers of a route for the OpenAPI document, by status, from the table of refusals. */
export const refusals = (group: Group, ...codes: readonly RefusalCode[]) =>
  described(group, [...everywhere, ...ofBodies(group), ...codes])

/** The error answers of a route that needs no key and belongs to no group. */
export const openRefusals = (...codes: readonly RefusalCode[]) =>
  described('admin', [...inTheOpen, ...codes])
