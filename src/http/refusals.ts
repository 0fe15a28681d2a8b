import { z } from 'zod'
import { type ProblemCode, problems, type Shape } from '../problems.ts'
import type { RouteRules } from './call.ts'

type Group = NonNullable<RouteRules['group']>

const error = z.looseObject({
  message: z.string(),
  type: z.string(),
  code: z.string(),
  param: z.string().optional(),
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
} as const satisfies Record<Shape, z.ZodType>

const groupShape = {
  chat: 'error',
  agents: 'error',
  admin: 'error',
  rag: 'rag',
  detail: 'detail',
} as const

/** What any route under a key may answer besides its own refusals. */
const everywhere: readonly ProblemCode[] = [
  'missing_api_key',
  'invalid_api_key',
  'https_required',
  'organization_access_denied',
  'insufficient_scopes',
  'rate_limit_exceeded',
  'invalid_body',
  'invalid_query',
  'invalid_json',
  'internal_error',
  'service_unavailable',
]

/** The error answers of a route for the OpenAPI document, by status, from the problem table. */
export const refusals = (group: Group, ...codes: readonly ProblemCode[]) => {
  const byStatus = new Map<number, Map<Shape, ProblemCode[]>>()
  for (const code of new Set([...everywhere, ...codes])) {
    const { status } = problems[code]
    const shape: Shape | 'route' = problems[code].shape
    const kind = shape === 'route' ? groupShape[group] : shape
    const kinds = byStatus.get(status) ?? new Map<Shape, ProblemCode[]>()
    kinds.set(kind, [...(kinds.get(kind) ?? []), code])
    byStatus.set(status, kinds)
  }
  return Object.fromEntries(
    [...byStatus].map(([status, kinds]) => {
      const bodies = [...kinds.keys()].map((kind) => shapes[kind])
      const [first = shapes.error, ...rest] = bodies
      const schema = rest.length > 0 ? z.union([first, ...rest]) : first
      const description = [...kinds.values()].flat().join(', ')
      return [status, schema.describe(description)]
    }),
  )
}
