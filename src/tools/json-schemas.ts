import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { JsonSchemas, SchemaFault } from '../ports/json-schemas.ts'
import { WorkFailed } from '../support/worker-handle.ts'
import { workerPool } from '../support/worker-pool.ts'
import type { SchemaAnswer, SchemaTask } from './json-schema-thread.ts'

type Limits = {
  /** To compile one schema, or to check one value. */
  timeoutMs: number
  heapMb: number
  threads: number
}

const usual: Limits = { timeoutMs: 2_000, heapMb: 128, threads: 2 }
const idleMs = 60_000
/** How large a schema may be, in characters of JSON. */
const longestSchema = 65_536
/** How long a text to be checked may be, in characters. */
const longestText = 1_048_576

const words = {
  time: 'it takes too long to compile',
  memory: 'it needs too much memory to compile',
  crash: 'it cannot be read',
} as const

/** What a schema or value did to the thread. @throws the error, where it says nothing of them */
const faultOf = (error: unknown): keyof typeof words => {
  if (!(error instanceof WorkFailed)) throw error
  const { fault } = error
  if (fault === 'closed' || fault === 'start') throw error
  return fault
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64')

type Schema = Readonly<Record<string, unknown>>

/**
 * Compiles users' JSON Schemas and checks values against them in threads with bounds of time and
 * memory, patterns included. A thread keeps what it compiled; a schema that could not be compiled
 * is remembered and not tried again.
 */
export const jsonSchemas = (
  limits: Partial<Limits> = {},
): JsonSchemas & { close(): Promise<void> } => {
  const bounds = { ...usual, ...limits }
  const pool = workerPool<SchemaTask, SchemaAnswer>({
    ...bounds,
    script: new URL('./json-schema-thread.js', import.meta.url),
    idleMs,
  })
  const texts = new WeakMap<Schema, string>()
  /** By hash: why a schema cannot be used when checking, or that it can. */
  const verdicts = new LRUCache<string, Promise<SchemaFault | undefined>>({ max: 2_000 })

  /** Those that fit their dialect and were compiled, by hash: chats bring the same ones again. */
  const sound = new LRUCache<string, true>({ max: 2_000 })

  const textOf = (schema: Schema): string => {
    const text = texts.get(schema) ?? JSON.stringify(schema)
    texts.set(schema, text)
    return text
  }

  const compiling = async (
    owner: string,
    schema: string,
    strict: boolean,
  ): Promise<SchemaFault | undefined> => {
    if (schema.length > longestSchema)
      return { words: `it has more than ${longestSchema} characters`, overLimit: true }
    try {
      const { fault } = await pool.run(owner, { schema, strict })
      return fault === undefined ? undefined : { words: fault, overLimit: false }
    } catch (error) {
      const fault = faultOf(error)
      return { words: words[fault], overLimit: fault !== 'crash' }
    }
  }

  /** Compiled once for all checks. */
  const verdictOn = (owner: string, text: string): Promise<SchemaFault | undefined> => {
    const hash = hashOf(text)
    const known = verdicts.get(hash)
    if (known) return known
    const verdict = compiling(owner, text, false)
    verdicts.set(hash, verdict)
    verdict.catch(() => verdicts.delete(hash))
    return verdict
  }

  const misfitIn = async (
    owner: string,
    what: string,
    task: Exclude<SchemaTask, { strict: boolean }>,
  ) => {
    try {
      const { misfit } = await pool.run(owner, task)
      return misfit === undefined ? undefined : { misfit: `${what}${misfit}` }
    } catch (error) {
      faultOf(error)
      return { misfit: `the ${what} could not be checked in time` }
    }
  }

  return {
    async faultOf(organizationId, schema) {
      const text = JSON.stringify(schema)
      const hash = hashOf(text)
      if (sound.has(hash)) return undefined
      const fault = await compiling(organizationId, text, true)
      if (!fault) sound.set(hash, true)
      return fault
    },
    async misfitOf(organizationId, schema, value) {
      const text = textOf(schema)
      if ((await verdictOn(organizationId, text)) !== undefined)
        return { misfit: 'the parameters of this tool are not a usable JSON Schema' }
      return misfitIn(organizationId, 'arguments', { schema: text, value })
    },
    async textMisfitOf(organizationId, schema, text) {
      if (text.length > longestText) return { misfit: 'the answer is longer than 1 MB' }
      return misfitIn(organizationId, 'answer', { schema: textOf(schema), text })
    },
    close: pool.close,
  }
}
