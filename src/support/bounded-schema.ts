import { z } from 'zod'
import { type JsonBounds, jsonFault } from './json-bounds.ts'

/** A refusal names no more errors of a value. */
export const mostErrors = 5

/** @throws $ZodAsyncError where a schema checks asynchronously */
const synchronous = <Result>(result: Result | Promise<Result>): Result => {
  if (result instanceof Promise) throw new z.core.$ZodAsyncError()
  return result
}

/** `z.array`, but the check of a long array ends after the first errors. */
const ZodList: z.core.$constructor<z.ZodArray> = z.core.$constructor('ZodList', (inst, def) => {
  z.ZodArray.init(inst, def)
  const { parse } = inst._zod
  inst._zod.parse = (payload, context) => {
    const { value, issues } = payload
    const [[most] = [Number.POSITIVE_INFINITY]] = z.core.util.sizeCaps(inst._zod.def.checks)
    if (!Array.isArray(value) || value.length > most) return parse(payload, context)
    const all: unknown[] = []
    for (const [n, input] of value.entries()) {
      const result = synchronous(def.element._zod.run({ value: input, issues: [] }, context))
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

/** `z.record`, but the check of many properties ends after the first errors. */
const ZodEntries: z.core.$constructor<z.ZodRecord> = z.core.$constructor(
  'ZodEntries',
  (inst, def) => {
    z.ZodRecord.init(inst, def)
    const { parse } = inst._zod
    inst._zod.parse = (payload, context) => {
      const { value, issues } = payload
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        return parse(payload, context)
      const all: Record<string, unknown> = {}
      for (const entry of Object.entries(value)) {
        const result = synchronous(
          parse({ value: Object.fromEntries([entry]), issues: [] }, context),
        )
        issues.push(...result.issues)
        if (issues.length >= mostErrors) break
        Object.assign(all, result.value)
      }
      payload.value = all
      return payload
    }
  },
)

/** An object of which a client chooses the names of the properties. */
export const entries = <Key extends z.core.$ZodRecordKey, Value extends z.ZodType>(
  keyType: Key,
  valueType: Value,
): z.ZodRecord<Key, Value> =>
  new ZodEntries({ type: 'record', keyType, valueType }) as z.ZodRecord<Key, Value>

/**
 * Counts a value before its schema is applied. Beyond the bounds it is refused as `too_complex`.
 */
export const within = <Schema extends z.ZodType>(bounds: Partial<JsonBounds>, schema: Schema) =>
  z.preprocess((value, { addIssue }) => {
    const message = jsonFault(value, bounds)
    if (message === undefined) return value
    addIssue({ code: 'custom', message, params: { code: 'too_complex' } })
    return z.NEVER
  }, schema)
