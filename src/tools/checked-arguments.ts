import { createContext, Script } from 'node:vm'
import { Ajv, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { LRUCache } from 'lru-cache'
import { ToolFault } from './results.ts'

/** How large a schema may be, in characters of JSON. */
export const longestSchema = 32_000
const compileMs = 250
const checkMs = 100

const context = createContext(Object.create(null))
const script = new Script('work()')

/**
 * Runs the schemas and patterns of users for a bounded time: the engine interrupts them, even
 * inside a regular expression.
 * @throws when the time is over
 */
const within = <T>(timeout: number, work: () => T): T => {
  context.work = work
  try {
    return script.runInContext(context, { timeout })
  } finally {
    context.work = undefined
  }
}

type Schema = Readonly<Record<string, unknown>>
type Check = { validate?: ValidateFunction }

const options = {
  strict: false,
  meta: false,
  validateSchema: false,
  validateFormats: false,
  unicodeRegExp: false,
  logger: false,
} as const
const older = /draft-0[467]\b/

/** Draft 7 where `$schema` says so, else 2020-12; references outside of it are not followed. */
const compiled = ({ $schema, ...schema }: Schema): Check => {
  try {
    const ajv = older.test(String($schema)) ? new Ajv(options) : new Ajv2020(options)
    return { validate: within(compileMs, () => ajv.compile(schema)) }
  } catch {
    return {}
  }
}

/** Checks arguments against JSON Schemas, each compiled once. */
export const argumentChecker = () => {
  const known = new LRUCache<string, Check>({ max: 500 })

  /** @throws ToolFault that says what does not fit */
  return (schema: Schema, args: Readonly<Record<string, unknown>>): void => {
    const key = JSON.stringify(schema)
    const check = known.get(key) ?? (key.length > longestSchema ? {} : compiled(schema))
    known.set(key, check)
    const { validate } = check
    if (!validate) throw new ToolFault('the parameters of this tool are not a usable JSON Schema')
    let fits: unknown
    try {
      fits = within(checkMs, () => validate(args))
    } catch {
      throw new ToolFault('the arguments could not be checked in time')
    }
    if (fits) return
    const [first] = validate.errors ?? []
    throw new ToolFault(`arguments${first?.instancePath ?? ''} ${first?.message ?? 'do not fit'}`)
  }
}
