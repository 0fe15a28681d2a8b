import t from 'tap'
import { chatLoad } from '../support/chat-load.ts'
import { user } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { allRag, encodedFile, library } from '../support/library.ts'
import { hasProc, memoryOf, openFiles } from '../support/process-state.ts'
import { raw } from '../support/raw.ts'
import { rounds } from '../support/rounds.ts'
import type { StartedServer } from '../support/server.ts'
import { attackedServer, expect, holds } from '../support/under-attack.ts'
import { attacks, namesAtOnce } from './attacks/attacks.ts'

/** Each attack is tried at least once; more often as long as this lasts. */
const lastsMs = rounds(1_000, 30_000)
/** All attacks share what there is of processors: here they have two, and so have their clients. */
const ofAll = { p99Ms: 20_000, grownMb: rounds(500, 650) }
/** Memory that the process retains: indexes, threads, a heap that is not yet collected. */
const mostKeptMb = 500
/** Idle connections of this process: the server keeps them alive for a minute. */
const keepAliveConnections = 40

/**
 * Chats with a provider that reports no usage, and searches a document. What a server loads at its
 * first use, such as the tables of the tokenizer (60 MB), is part of its usual memory.
 */
const useOnce = async ({ platform }: StartedServer) => {
  const organization = await platform.organization({ credits: 1_000 })
  const target_agent_id = await organization.agent({ name: 'Silent', model: 'silent/any' })
  const key = await organization.key()
  expect(await key.chat({ messages: user('Hi'), target_agent_id }), 200)
  const { datastore, upload, settled, ask } = library(await organization.key({ scopes: allRag }))
  const id = await datastore()
  expect(await upload(id, encodedFile('one.txt', 'One document.')), 200)
  await settled(id)
  expect(await ask('POST', `/datastores/${id}/search`, { query: 'document' }), 200)
}

// Half a minute of attacks, and several for what they began.
t.setTimeout(600_000)

t.test(
  'attacks at once on one tenant that chats',
  { skip: !hasProc && 'needs /proc' },
  async (t) => {
    const server = await attackedServer(t)
    const { url, pid } = server
    await useOnce(server)
    const idle = memoryOf(pid)
    const files = openFiles(pid).length
    const tenant = await chatLoad(server)

    const end = Date.now() + lastsMs
    let tried = 0
    let dropped = 0
    /** Together the attacks exceed the budget of buffers, which drops their newest readers. */
    const isDropped = (error: unknown) =>
      error instanceof Error && 'code' in error && error.code === 'ECONNRESET'
    const tryOn = async (name: string) => {
      try {
        const round = await attacks[name]?.(server)
        do {
          await round?.().catch((error: unknown) => {
            if (!isDropped(error)) throw error
            dropped++
          })
          tried++
        } while (Date.now() < end)
      } catch (error) {
        throw new Error(`${name}: ${error}`, { cause: error })
      }
    }
    await holds(
      t,
      { url, pid, idle },
      async () => {
        await Promise.all(namesAtOnce.map(tryOn))
      },
      ofAll,
    )

    const { sessions, turns, longestMs } = await tenant.stop()
    t.comment(
      `${tried} attacks, ${dropped} dropped, ${turns} turns, the longest took ${longestMs} ms`,
    )
    t.ok(turns > 0, 'every turn was answered, and rightly')
    for (const { key, session_id, answers } of sessions) {
      if (answers.length === 0) continue
      const path = `/api/external/sessions/${session_id}/messages?page_size=200`
      const { body } = await server.as(key).ask('GET', path)
      const texts = body.messages.map(({ content }: { content: string }) => content)
      t.strictSame(texts, answers.slice(0, 200), `${session_id} is as it was answered`)
    }

    await eventually(async () => (await raw(url)('/api/health/ready')).status === 200)
    await eventually(async () => {
      const { projections } = await server.platform.ask('GET', '/projections')
      return projections.every(
        ({ lag, state }: { lag: number; state: string }) => lag === 0 && state === 'running',
      )
    })
    t.pass('no projection lags')
    await eventually(async () => openFiles(pid).length <= files + keepAliveConnections)
    t.comment(
      `${openFiles(pid).length} files, of ${files} before; memory +${memoryOf(pid) - idle} MB`,
    )
    // The collector takes its time once nothing is asked any more.
    await eventually(async () => memoryOf(pid) - idle < mostKeptMb)
    t.equal(await server.stop(), 0)
  },
)
