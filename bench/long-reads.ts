import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { hugeJson } from '../test/support/documents.ts'
import type { Section } from './bench.ts'
import { type Measured, percentile } from './measured.ts'
import { serveProduct } from './processes.ts'
import { storeSessions } from './sessions.ts'
import { makeTenants, openWriting } from './tenants.ts'

/** Events of the organization that is read, some seven a session. */
const events = Number(process.env.LONG_READS_EVENTS ?? 1_000_000)
const turns = 1
const perSession = 7
const everyMs = 5
/** As much as one upload may have, less what the form around it takes. */
const documentBytes = 10 * 1024 * 1024 - 1_024
const adminKey = 'key-of-the-benchmark-of-long-reads-0000'

const download = async (url: string, headers: Record<string, string>): Promise<number> => {
  const reply = await fetch(url, { headers: { 'x-api-key': adminKey, ...headers } })
  if (!reply.ok || !reply.body) throw new Error(`${url}: ${reply.status}`)
  let bytes = 0
  for await (const part of reply.body) bytes += part.length
  return bytes
}

/** Milliseconds that answers of a health check take while some work is done. */
const pinged = async (url: string, work: () => Promise<unknown>): Promise<number[]> => {
  const times: number[] = []
  let over = false
  const end = () => {
    over = true
  }
  const done = work()
  done.then(end, end)
  while (!over) {
    const start = performance.now()
    await fetch(`${url}/api/health`).then((reply) => reply.arrayBuffer())
    times.push(performance.now() - start)
    await pause(everyMs)
  }
  await done
  return times
}

/** What a health check waits while an organization's whole history is read. */
export const benchLongReads: Section = async ({ dir, profile }) => {
  const dataDir = join(dir, 'long-reads')
  const writing = await openWriting(dataDir)
  const tenants = await makeTenants(writing, 1, ['rag:read', 'rag:upload'])
  const sessions = Math.ceil(events / perSession)
  await storeSessions(writing, tenants, sessions, () => turns)
  await writing.close()
  const organizationId = tenants[0]?.organizationId
  const product = await serveProduct(dataDir, { profile, env: { SUPER_ADMIN_KEY: adminKey } })
  const at = `${product.url}/api/admin/organizations/${organizationId}`
  const lines = { accept: 'application/x-ndjson' }
  const folded = async () => {
    for (;;) {
      const reply = await fetch(`${at}/audit/checkpoint`, { headers: { 'x-api-key': adminKey } })
      await reply.arrayBuffer()
      if (reply.ok) return
      await pause(100)
    }
  }
  const rebuilt = async (name: string) => {
    const path = `${product.url}/api/admin/projections`
    const headers = { 'x-api-key': adminKey }
    await fetch(`${path}/${name}/rebuild`, { method: 'POST', headers })
    for (;;) {
      const reply = await fetch(path, { headers })
      const { projections } = (await reply.json()) as {
        projections: { name: string; state: string }[]
      }
      if (projections.find((projection) => projection.name === name)?.state !== 'rebuilding') return
      await pause(200)
    }
  }
  // Made before: it takes this process hundreds of milliseconds, in which it could ask for nothing.
  const document = new Blob([hugeJson(documentBytes)])
  const read = async () => {
    const rag = `${product.url}/api/external/rag`
    const headers = { 'x-api-key': tenants[0]?.key ?? '' }
    const fetchJson = async (path: string, init: RequestInit) => {
      const reply = await fetch(`${rag}${path}`, init)
      if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`)
      return (await reply.json()) as { datastore_id: string; files: { status: string }[] }
    }
    const { datastore_id } = await fetchJson('/datastores', {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ display_name: 'Library' }),
    })
    const form = new FormData()
    form.append('files', document, 'large.json')
    form.append('datastore_id', datastore_id)
    await fetchJson('/upload', { method: 'POST', headers, body: form })
    for (let open = true; open; await pause(200)) {
      const { files } = await fetchJson(`/datastores/${datastore_id}/files`, { headers })
      open = files.some(({ status }) => status !== 'completed' && status !== 'failed')
    }
  }
  try {
    await folded()
    const works: [string, () => Promise<unknown>][] = [
      ['nothing else', () => pause(3_000)],
      ['an export', () => download(`${at}/audit/export`, {})],
      ['the events as lines', () => download(`${at}/audit/events`, lines)],
      ['a past state', () => download(`${at}/audit/state?view=messages`, lines)],
      [
        `a snapshot of a feed, ${sessions * turns * 2} documents`,
        () => download(`${at}/feeds/messages`, lines),
      ],
      ['a rebuild of transparency', () => rebuilt('transparency')],
      ['a rebuild of messages', () => rebuilt('messages')],
      ['a document of 10 MB', read],
    ]
    const measured: Measured[] = []
    for (const [name, work] of works) {
      const start = performance.now()
      const times = await pinged(product.url, work)
      const seconds = (performance.now() - start) / 1_000
      const line = `health ping during ${name} (${events} events)`
      measured.push(
        { name: `${line}, p99`, value: percentile(times, 0.99), unit: 'ms', aim: { most: 20 } },
        { name: `${line}, longest`, value: Math.max(...times), unit: 'ms' },
        { name: `${line}, it took`, value: seconds, unit: 's' },
      )
    }
    return measured
  } finally {
    await product.stop()
  }
}
