import { appendFileSync } from 'node:fs'
import { register } from 'node:module'
import { isMainThread } from 'node:worker_threads'

type Next = (url: string, context: object) => Promise<object>

/** A hook of node's loader: notes every module file that the process loads. */
export const load = async (url: string, context: object, next: Next): Promise<object> => {
  const file = process.env.NOTED_MODULES
  if (file) appendFileSync(file, `${url}\n`)
  return next(url, context)
}

// With `--import`, in the process itself; the hook then runs in a thread of its own.
if (isMainThread && process.env.NOTED_MODULES) register(import.meta.url)
