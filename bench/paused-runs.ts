import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Request } from 'autocannon'
import { Pool } from 'undici'
import { v7 as uuid } from 'uuid'
import type { Place } from './bench.ts'
import { chatRequest } from './contenders.ts'
import type { Held } from './counting/preload.ts'
import { type Serving, serve } from './processes.ts'
import { openWriting } from './tenants.ts'
import { makeWorkers, type Worker } from './working-agents.ts'

const concurrency = 32
/** After so many milliseconds it is looked again whether connections are closed. */
const closingMs = 20

export type Kind = keyof Worker['agents']

/** A message to one of a tenant's agents, in a session of its own. */
export const agentRequest = (worker: Worker, kind: Kind, more: object = {}): Request =>
  chatRequest(worker, { target_agent_id: worker.agents[kind], ...more })

/** A provider whose models call tools; `make` creates a data directory of tenants with agents. */
export const toolPlaces = async ({ dir }: Pick<Place, 'dir'>, core?: number | 'any') => {
  const provider = await serve({ script: 'baselines/upstream.js', core })
  const env = {
    LLM_BASE_URL: `${provider.url}/v1`,
    LLM_MODEL: 'mock/model',
    API_CALL_ALLOW_HOSTS: new URL(provider.url).host,
  }
  return {
    env,
    stop: provider.stop,
    async make(name: string, count: number) {
      const dataDir = join(dir, name)
      const writing = await openWriting(dataDir, env)
      const workers = await makeWorkers(writing, count, provider.url)
      await writing.close()
      return { dataDir, workers }
    },
  }
}

/** One after another, and then from the start. */
export const inTurn = <Item>(items: readonly Item[], n: number): Item => {
  const item = items[n % items.length]
  if (item === undefined) throw new Error('there is nobody to ask as')
  return item
}

/** A run that waits, and what its decision needs. */
export type Paused = { worker: Worker; sessionId: string; approvalId: string; digest: string }

/** Asks a server that is measured. */
export const agentClient = ({ url }: Serving) => {
  const pool = new Pool(url, { connections: concurrency })
  const textOf = async ({ method, path, headers, body }: Request): Promise<string> => {
    const answer = await pool.request({ method, path, headers, body: body ?? null })
    const text = await answer.body.text()
    if (answer.statusCode !== 200) throw new Error(`${path} was refused: ${text}`)
    return text
  }
  return {
    textOf,
    close: () => pool.close(),
    async pause(worker: Worker, kind: 'asking' | 'askingLate'): Promise<Paused> {
      const sessionId = uuid()
      const answer = JSON.parse(await textOf(agentRequest(worker, kind, { session_id: sessionId })))
      const [pending] = answer.pending_approvals
      return {
        worker,
        sessionId,
        approvalId: pending.approval_id,
        digest: pending.arguments_digest,
      }
    },
    /** Agrees, and follows the run to its end. */
    async goOn({ worker, sessionId, approvalId, digest }: Paused): Promise<void> {
      const headers = { 'x-api-key': worker.key, 'content-type': 'application/json' }
      const body = JSON.stringify({ decision: 'approve', arguments_digest: digest })
      await textOf({
        method: 'POST',
        path: `/api/external/approvals/${approvalId}`,
        headers,
        body,
      })
      const path = `/api/external/sessions/${sessionId}/stream`
      await textOf({ method: 'GET', path, headers: { 'x-api-key': worker.key } })
    },
  }
}

/** Does so many things, several at a time. */
export const concurrently = async (
  count: number,
  task: (n: number) => Promise<void>,
): Promise<void> => {
  let next = 0
  const worker = async () => {
    for (let n = next++; n < count; n = next++) await task(n)
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
}

/** Memory and resources of a server that preloads `counting/preload.js`, without connections. */
export const heldBy = async ({ child }: Serving): Promise<Held> => {
  for (;;) {
    child.send('held')
    const [held]: Held[] = await once(child, 'message')
    if (held && !held.resources.SimpleShutdownWrap) return held
    await pause(closingMs)
  }
}

/** Begins so many runs that wait until somebody agrees to a call. */
export const pauseRuns = async (
  product: Serving,
  workers: readonly Worker[],
  count: number,
): Promise<void> => {
  const client = agentClient(product)
  await concurrently(count, async (n) => void (await client.pause(inTurn(workers, n), 'asking')))
  await client.close()
}
