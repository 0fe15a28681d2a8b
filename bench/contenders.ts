import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Request } from 'autocannon'
import { chatPath, type Recorded } from './baselines/same-bytes.ts'
import type { Place } from './bench.ts'
import { type Serving, serve, serveProduct } from './processes.ts'
import { makeTenants, openWriting, type Tenant, type Writing } from './tenants.ts'

const usualTenants = 500

const question = {
  model: 'svc-orchestrator',
  messages: [{ role: 'user', content: 'What does the contract say about notice?' }],
}

/** A message that begins a session of its own. */
export const chatRequest = ({ key }: Tenant, more: object = {}): Request => ({
  method: 'POST',
  path: chatPath,
  headers: { 'x-api-key': key, 'content-type': 'application/json' },
  body: JSON.stringify({ ...question, ...more }),
})

const textOf = async ({ url }: Serving, { method, path, headers, body }: Request) => {
  const answer = await fetch(url + path, { method, headers, ...(body ? { body } : {}) })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`)
  return text
}

type With<More> = {
  name: string
  /** How many tenants. */
  count?: number
  /** Loaded before the product: compiled, relative to this file. */
  preload?: string
  core?: number | 'any'
  env?: Record<string, string>
  /** What the tenants have besides. */
  prepare?(writing: Writing, tenants: readonly Tenant[]): Promise<(Tenant & More)[]>
}

const asTheyAre = async <More>(_: Writing, tenants: readonly Tenant[]) =>
  tenants as readonly (Tenant & More)[]

/** The product in a directory of its own, with tenants to ask it. */
export const productWith = async <More = unknown>(
  { dir, profile }: Place,
  { name, count = usualTenants, env = {}, prepare, preload, core }: With<More>,
) => {
  const dataDir = join(dir, name)
  const writing = await openWriting(dataDir, env)
  const tenants = await (prepare ?? asTheyAre<More>)(writing, await makeTenants(writing, count))
  await writing.close()
  const product = await serveProduct(dataDir, { env, profile, preload, core })
  return { product, tenants }
}

/** Bare fastify and the hand-written loop, answering what the product answers. */
export const baselinesOf = async (
  { dir }: Place,
  product: Serving,
  [tenant]: readonly Tenant[],
) => {
  if (!tenant) throw new Error('there is nobody to ask as')
  const recorded: Recorded = {
    json: await textOf(product, chatRequest(tenant)),
    sse: await textOf(product, chatRequest(tenant, { stream: true })),
  }
  const file = join(dir, 'same-bytes.json')
  writeFileSync(file, JSON.stringify(recorded))
  const env = { SAME_BYTES: file, DATA_DIR: join(dir, 'lmdb-loop') }
  return {
    bare: await serve({ script: 'baselines/bare-fastify.js', env }),
    loop: await serve({ script: 'baselines/lmdb-loop.js', env }),
  }
}
