import { join } from 'node:path'
import t, { type Test } from 'tap'
import { contents, user } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { raw } from '../support/raw.ts'
import { rounds } from '../support/rounds.ts'
import { startServer } from '../support/server.ts'
import { randomNumbers, spoil } from '../support/spoiled.ts'

t.setTimeout(300_000)

const codes = ['store_damaged', 'service_unavailable']

/** A server with two organizations that have talked. */
const scene = async (t: Test) => {
  const DATA_DIR = t.testdir()
  const server = await startServer(t, { DATA_DIR })
  const organizations: { key: string; id: string }[] = []
  for (let n = 0; n < 2; n++) {
    const organization = await server.platform.organization()
    const { key } = await organization.key()
    for (let m = 0; m < 6; m++)
      await server.as(key).chat({ messages: user(`Hello ${m}`), session_id: `session-${m % 3}` })
    organizations.push({ key, id: organization.organizationId })
  }
  /** Asks for everything; answers how much was answered, after having looked at each refusal. */
  const askAll = async () => {
    let fine = 0
    let refused = 0
    const look = ({ status, headers }: { status: number; headers: Record<string, unknown> }) => {
      if (status === 200) fine++
      else {
        refused++
        t.ok(status === 503 && codes.includes(`${headers['x-error-code']}`), `${status}`)
      }
    }
    for (const { key, id } of organizations) {
      const headers = { 'x-api-key': key }
      for (let m = 0; m < 3; m++)
        look(await raw(server.url)(`/api/external/sessions/session-${m}/messages`, { headers }))
      look(await raw(server.url)('/api/external/agents', { headers }))
      const admin = { 'x-api-key': 'platform-key-of-at-least-32-characters' }
      const at = `/api/admin/organizations/${id}`
      for (const path of ['/audit/events?limit=500', '/members', '/agents', '/api-keys'])
        look(await raw(server.url)(`${at}${path}`, { headers: admin }))
    }
    t.equal((await raw(server.url)('/api/health')).status, 200, 'the process lives')
    return { fine, refused }
  }
  const readiness = async () => (await raw(server.url)('/api/health/ready')).body
  return { DATA_DIR, server, organizations, askAll, readiness }
}

t.test('views that are damaged, while they are served or not, heal by themselves', async (t) => {
  const { DATA_DIR, server, organizations, askAll, readiness } = await scene(t)
  const whole = await askAll()
  t.equal(whole.refused, 0)
  const said = await Promise.all(
    organizations.map(({ key }) => contents(server.as(key), 'session-0')),
  )
  for (let seed = 1; seed <= rounds(2, 6); seed++) {
    const random = randomNumbers(seed)
    const file = join(DATA_DIR, 'views', 'data.mdb')
    const harm = () => Array.from({ length: 4 }, () => spoil(file, random)).join(', ')
    if (seed % 2) t.comment(`served: ${harm()}`)
    else {
      await server.stop()
      t.comment(`stopped: ${harm()}`)
      await server.restart()
    }
    await eventually(async () => (await askAll()).refused === 0)
    const now = await Promise.all(
      organizations.map(({ key }) => contents(server.as(key), 'session-0')),
    )
    t.strictSame(now, said, 'what was said is there again')
    t.match(await readiness(), { status: 'ok' })
  }
})

t.test('a log that is damaged while it is served: named, and the rest is served', async (t) => {
  const { DATA_DIR, server, organizations, askAll, readiness } = await scene(t)
  let named = 0
  for (let seed = 1; seed <= rounds(5, 8); seed++) {
    t.comment(spoil(join(DATA_DIR, 'log', 'data.mdb'), randomNumbers(seed)))
    const { fine, refused } = await askAll()
    t.ok(fine > 0, `${fine} answered, ${refused} refused`)
    for (const { key } of organizations) {
      const { status } = await server.as(key).chat({ messages: user('More'), session_id: 'new' })
      t.ok(status === 200 || status === 503, `a message: ${status}`)
    }
    const { checks } = await readiness()
    if (refused > 0) t.equal(checks.damage.ok, false)
    if (!checks.damage.ok) named++
  }
  t.ok(named > 0)
})
