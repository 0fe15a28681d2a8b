import { Ajv, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { LRUCache } from 'lru-cache'
import { cutText } from '../support/cut-text.ts'
import { serveTasks } from '../support/serve-tasks.ts'

export type SchemaTask =
  /** `schema` is JSON. `strict`: it must fit its own dialect. */
  | { schema: string; strict: boolean }
  | { schema: string; value: unknown }
  /** `text` is to be JSON. */
  | { schema: string; text: string }

export type SchemaAnswer = { fault?: string; misfit?: string }

type Compiled = { validate: ValidateFunction } | { fault: string }

const lenient = {
  strict: false,
  validateFormats: false,
  unicodeRegExp: false,
  logger: false,
  // Each reference stays a call: inlined, references that double at each level grow without end.
  inlineRefs: false,
} as const
const unchecked = { ...lenient, meta: false, validateSchema: false } as const
const older = /draft-0[467]\b/

/** Draft 7 where `$schema` says so, else 2020-12; references to other documents are ignored. */
const compiled = (text: string, strict: boolean): Compiled => {
  const { $schema, ...schema } = JSON.parse(text)
  const options = strict ? lenient : unchecked
  try {
    const ajv = older.test(String($schema)) ? new Ajv(options) : new Ajv2020(options)
    return { validate: ajv.compile(schema) }
  } catch (error) {
    return { fault: error instanceof Error ? error.message : 'it cannot be read' }
  }
}

const cache = new LRUCache<string, Compiled>({
  max: 100,
  maxSize: 1_000_000,
  sizeCalculation: (_, text) => text.length + 1,
})

const lenientlyCompiled = (text: string): Compiled => {
  const known = cache.get(text)
  if (known) return known
  const result = compiled(text, false)
  cache.set(text, result)
  return result
}

const parsed = (text: string): { value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

serveTasks<SchemaTask, SchemaAnswer>((task) => {
  const { schema } = task
  const result =
    'strict' in task && task.strict ? compiled(schema, true) : lenientlyCompiled(schema)
  if ('fault' in result) return { answer: { fault: cutText(result.fault, 500) } }
  if ('strict' in task) return { answer: {} }
  const read = 'text' in task ? parsed(task.text) : { value: task.value }
  if (!read) return { answer: { misfit: ' is not JSON' } }
  if (result.validate(read.value)) return { answer: {} }
  const [first] = result.validate.errors ?? []
  const misfit = `${first?.instancePath ?? ''} ${first?.message ?? 'do not fit'}`
  return { answer: { misfit: cutText(misfit, 500) } }
})
