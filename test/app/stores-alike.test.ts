import t, { type Test } from 'tap'
import { v7 as uuid } from 'uuid'
import type { Clock } from '../../src/ports/clock.ts'
import { eventStoreDbDouble } from '../support/eventstoredb-double/double.ts'
import { everyGet, getRoutes } from '../support/every-get.ts'
import { startApp } from '../support/server.ts'
import { workload } from '../support/workload.ts'

// Some hundred requests on each of two stores.
t.setTimeout(300_000)

/** No two requests come at one millisecond: a time divides both histories at the same event. */
const countingClock = (): Clock => {
  let last = 0
  return {
    now: () => {
      last = Math.max(Date.now(), last + 1)
      return new Date(last)
    },
    monotonic: () => performance.now(),
    id: () => uuid(),
  }
}

const answersOn = async (t: Test, env: Record<string, string> = {}) => {
  const server = await startApp(t, env, { clock: countingClock() })
  const organization = await workload(server.platform)
  const gift = { amount: 1, reason: 'gift' }
  await server.platform.ask('POST', `/users/${organization.ownerId}/credits`, gift)
  // Flushes the meters; the next start records the change of the account.
  await server.restart()
  const answers = await everyGet(server.url, organization)
  return { answers, routes: await getRoutes(server.url) }
}

/** Routes for more than a key, that need a parameter, or whose things the workload has none of. */
const statuses: ReadonlyMap<string, number> = new Map([
  ['/ws/chat', 426],
  ['/console/session', 401],
  ['/api/admin/organizations/{organization_id}/audit/charges', 400],
  ['/api/external/approvals/{approval_id}', 404],
])

t.test('every GET answers alike on both event stores', async (t) => {
  const embedded = await answersOn(t)
  const double = await eventStoreDbDouble()
  t.teardown(double.stop)
  const remote = await answersOn(t, { EVENTSTORE_URL: double.url })
  const covered = new Set(embedded.answers.map(({ route }) => route))
  t.strictSame(
    embedded.routes.filter((route) => !covered.has(route)),
    [],
    'every GET of the OpenAPI document is asked',
  )
  t.strictSame(
    remote.answers.map((answer) => answer.asked),
    embedded.answers.map((answer) => answer.asked),
  )
  t.match(JSON.stringify(remote.answers), 'MemberAccountChanged')
  for (const [n, answer] of embedded.answers.entries()) {
    const { route, status } = answer
    t.strictSame(remote.answers[n], answer, answer.asked)
    t.equal(status, statuses.get(route) ?? 200, answer.asked)
  }
})
