import { setTimeout as after } from 'node:timers/promises'
import t from 'tap'
import { eventually } from '../../support/eventually.ts'
import { withOrganization } from '../../support/partner.ts'
import { startApp } from '../../support/server.ts'

const projections = '/api/admin/projections'

t.test('read models are listed, and rebuilt beside the live ones', async (t) => {
  const all = await startApp(t, {}, { laterApart: true })
  const { asPlatform: platform } = all
  const { at, owner } = await withOrganization(all)
  // The process for audits takes its time to start on a busy machine.
  await eventually(async () => {
    const { body } = await platform('GET', projections)
    return body.projections.every(({ lag }: { lag: number }) => lag === 0)
  })
  const before = await platform('GET', projections)
  t.equal(before.status, 200)
  for (const projection of before.body.projections)
    t.match(projection, { name: String, position: Number, lag: 0, state: 'running' })
  const members = (await platform('GET', `${at}/members`)).body

  t.match(await platform('POST', `${projections}/members/rebuild`), {
    status: 202,
    body: { name: 'members', state: 'rebuilding' },
  })
  t.equal((await platform('POST', `${projections}/members/rebuild`)).status, 202, 'joins')
  let state = 'rebuilding'
  for (let attempt = 0; state === 'rebuilding' && attempt < 1_000; attempt++) {
    t.match((await platform('GET', `${at}/members`)).body, members, 'answers all the while')
    await after(5)
    const { body } = await platform('GET', projections)
    state = body.projections.find(({ name }: { name: string }) => name === 'members').state
  }
  t.equal(state, 'running')
  t.strictSame((await platform('GET', `${at}/members`)).body, members)

  t.match(await platform('POST', `${projections}/nothing/rebuild`), {
    status: 404,
    code: 'projection_not_found',
  })
  t.match(await owner('GET', projections), { status: 403, code: 'platform_only' })
  t.match(await owner('POST', `${projections}/members/rebuild`), { code: 'platform_only' })
})
