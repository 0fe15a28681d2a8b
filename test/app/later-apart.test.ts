import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { projections, projectionsAt } from '../../projections/all.ts'
import { embeddedEventStore } from '../../src/adapters/embedded/event-store.ts'
import { openLog } from '../../src/adapters/embedded/log.ts'
import { embeddedViews } from '../../src/adapters/embedded/views.ts'
import { openViewsEnv } from '../../src/adapters/embedded/views-env.ts'
import { openStores } from '../../src/app/stores.ts'
import { silent } from '../../src/ports/log.ts'
import { projector } from '../../src/projector/projector.ts'
import { childrenOf } from '../support/children.ts'
import { client } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { superAdminKey } from '../support/platform.ts'
import { reprise } from '../support/reprise.ts'
import { startApp, startServer } from '../support/server.ts'
import { workload } from '../support/workload.ts'

// Several lives of a server.
t.setTimeout(300_000)

const later = projectionsAt('later').map(({ name }) => name)

/** The processes for audits of a server. */
const processesOf = (server: number): number[] => childrenOf(server, 'later-process')

const sizeOf = async (url: string, organizationId: string): Promise<number> => {
  const path = `/api/admin/organizations/${organizationId}/audit/checkpoint`
  const { status, body } = await client(url, superAdminKey).ask('GET', path)
  return status === 200 ? Number(String(body).split('\n')[1]) : Number.NaN
}

const folder = async (t: Test) => {
  const path = await mkdtemp(join(tmpdir(), 'reprise-'))
  t.teardown(() => rm(path, { recursive: true, force: true }))
  return path
}

t.test('killed again and again, it comes back; the rest is served meanwhile', async (t) => {
  const { url, platform } = await startApp(t, {}, { laterApart: true })
  const organization = await platform.organization()
  const { organizationId } = organization
  const first = await sizeOf(url, organizationId)
  t.ok(first > 0)
  for (let n = 1; n <= 2; n++) {
    const [pid] = processesOf(process.pid)
    if (!pid) throw new Error('it does not run')
    process.kill(pid, 'SIGKILL')
    await organization.key()
    t.equal(
      await eventually(async () => {
        const size = await sizeOf(url, organizationId)
        return Number.isNaN(size) ? undefined : size
      }),
      first + n,
      'with what was acknowledged meanwhile, each event once',
    )
    t.not(processesOf(process.pid)[0], pid)
  }
  t.match(await client(url, superAdminKey).ask('GET', '/api/health/ready'), { status: 200 })
})

t.test('views that kill whoever opens them are folded anew', async (t) => {
  const DATA_DIR = await folder(t)
  const { url, platform } = await startApp(t, { DATA_DIR }, { laterApart: true })
  const { organizationId } = await platform.organization()
  const size = await sizeOf(url, organizationId)
  const [pid] = processesOf(process.pid)
  if (!pid) throw new Error('it does not run')
  process.kill(pid, 'SIGSTOP')
  await writeFile(join(DATA_DIR, 'views-later', 'data.mdb'), Buffer.alloc(65_536, 0xff))
  process.kill(pid, 'SIGKILL')
  const isUpToDate = await eventually(async () => (await sizeOf(url, organizationId)) === size)
  t.ok(isUpToDate)
})

t.test('kill -9 of the server: each event counts once, and nothing holds the folder', async (t) => {
  const DATA_DIR = await folder(t)
  const server = await startServer(t, { DATA_DIR })
  const { organizationId } = await server.platform.organization()
  const path = `/api/admin/organizations/${organizationId}/api-keys`
  const write = () => server.as(superAdminKey).ask('POST', path, { name: 'One' })
  for (let life = 0; life < 2; life++) {
    for (let n = 0; n < 5; n++) await write()
    t.ok((await sizeOf(server.url, organizationId)) > 0)
    const writing = write().catch(() => undefined)
    await server.kill9()
    await writing
    await server.restart()
  }
  t.equal(
    await sizeOf(server.url, organizationId),
    (await server.platform.events(organizationId)).length,
  )
  await server.stop()
  for (const name of later) {
    const { code, out } = await reprise(`projections verify ${name}`, { DATA_DIR })
    t.match({ code, out }, { code: 0, out: 'as the log has them' }, name)
  }
})

t.test('read models of an earlier release move to the folder, and are rebuilt there', async (t) => {
  const DATA_DIR = await folder(t)
  const first = await startServer(t, { DATA_DIR })
  const organization = await workload(first.platform)
  const { organizationId } = organization
  const size = await sizeOf(first.url, organizationId)
  await first.stop()

  // As earlier releases have left it: all read models in one folder.
  for (const name of ['views', 'views-later']) await rm(join(DATA_DIR, name), { recursive: true })
  await mkdir(join(DATA_DIR, 'views'))
  const log = await openLog({ path: join(DATA_DIR, 'log') })
  const store = embeddedEventStore(log)
  const old = embeddedViews(await openViewsEnv({ path: join(DATA_DIR, 'views') }))
  const folding = projector({ store, views: old, projections })
  await folding.start()
  t.ok(await folding.waitForPosition(await store.head(), 60_000))
  await folding.stop()
  await old.close()
  await store.close()

  const server = await startServer(t, { DATA_DIR })
  const grown = await sizeOf(server.url, organizationId)
  t.ok(grown >= size, `${grown} of ${size}`)
  const admin = server.as(superAdminKey)
  const list = async () =>
    (await admin.ask('GET', '/api/admin/projections')).body.projections as {
      name: string
      state: string
      lag: number
    }[]
  t.strictSame(
    (await list()).map(({ name }) => name),
    projections.map(({ name }) => name),
  )
  for (const name of later) {
    t.equal((await admin.ask('POST', `/api/admin/projections/${name}/rebuild`)).status, 202)
    await eventually(async () =>
      (await list()).some(
        (projection) => projection.name === name && projection.state === 'running',
      ),
    )
  }
  t.equal(
    await sizeOf(server.url, organizationId),
    (await server.platform.events(organizationId)).length,
  )
  await server.stop()

  const there = embeddedViews(await openViewsEnv({ path: join(DATA_DIR, 'views') }))
  for (const projection of projectionsAt('later')) {
    await there.view(projection)
    t.equal(await there.checkpoint(projection.name), -1, `${projection.name} is not there any more`)
  }
  await there.close()
  const { views, close } = await openStores({ DATA_DIR }, silent)
  for (const projection of projections) {
    await views.view(projection)
    t.ok((await views.checkpoint(projection.name)) > 0, projection.name)
  }
  await close()
})
