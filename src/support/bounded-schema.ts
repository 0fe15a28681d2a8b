import { z } from 'zod'
import { type JsonBounds, jsonFault } from './json-bounds.ts'

/** A refusal names no more errors of a value. */
export const mostErrors = 5

/** `z.array`, but the check of a long array ends after the first errors. */
const ZodList: z.core.$constructor<z.ZodArray> = z.core.$constructor('ZodList', (inst, def) => {
  z.ZodArray.init(inst, def)
  const { parse } = inst._zod
  inst._zod.parse = (payload, context) => {
    const { value, issues } = payload
    const { maximum: most = Number.POSITIVE_INFINITY } = inst._zod.bag as { maximum?: number }
    if (!Array.isArray(value) || value.length > most) return parse(payload, context)
    const all: unknown[] = []
    for (const [n, input] of value.entries()) {
      const result = def.element._zod.run({ value: input, issues: [] }, context)
      if (result instanceof Promise) throw new z.core.$ZodAsyncError()
      issues.push(...z.core.util.prefixIssues(n, result.issues))
      if (issues.length >= mostErrors) break
      all.push(result.value)
    }
    payload.value = all
    return payload
  }
})

/** An array that a client may make long. */
export const list = <Element extends z.ZodType>(
  element: Element,
  words: { error?: z.core.$ZodErrorMap } = {},
): z.ZodArray<Element> =>
  new ZodList({ type: 'array', element, ...words } as z.core.$ZodArrayDef) as z.ZodArray<Element>

/** Counts a value before its schema is applied. Beyond the bounds it is refused as `too_complex`. */
export const within = <Schema extends z.ZodType>(bounds: Partial<JsonBounds>, schema: Schema) =>
  z.preprocess((value, { addIssue }) => {
    const message = jsonFault(value, bounds)
    if (message === undefined) return value
    addIssue({ code: 'custom', message, params: { code: 'too_complex' } })
    return z.NEVER
  }, schema)
