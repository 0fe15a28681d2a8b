import t from 'tap'
import { eventually } from '../../support/eventually.ts'
import { withOrganization } from '../../support/partner.ts'
import { startApp } from '../../support/server.ts'

const path = '/api/admin/master-key/rotation'
const keyOf = (n: number, bytes = 32) => Buffer.alloc(bytes, n).toString('base64')
const wrong = { status: 400, code: 'invalid_input' }

t.test('a server that keeps its key makes a new one', async (t) => {
  const { asPlatform: platform } = await startApp(t)
  t.strictSame(await platform('GET', path), {
    status: 200,
    code: undefined,
    body: { state: 'none', rewrapped: 0 },
  })
  t.match(await platform('POST', path, {}), { status: 202, body: { state: 'rewrapping' } })
  const done = await eventually(async () => {
    const { body } = await platform('GET', path)
    return body.state === 'rewrapping' ? undefined : body
  })
  t.match(done, { state: 'none', error: undefined })
  t.ok(done.rewrapped > 0)
})

t.test('a server that is given its key is given the new one', async (t) => {
  const all = await startApp(t, { MASTER_KEY: keyOf(1) })
  const { asPlatform: platform } = all
  for (const body of [{}, undefined])
    t.match(await platform('POST', path, body), { status: 400, code: 'new_master_key_required' })
  t.match(await platform('POST', path, { new_master_key: keyOf(1) }), { body: { state: 'none' } })
  t.match(await platform('POST', path, { new_master_key: keyOf(2) }), { status: 202 })
  t.match(await platform('POST', path, { new_master_key: keyOf(3) }), {
    status: 409,
    code: 'rotation_under_way',
  })
  const { owner } = await withOrganization(all)
  t.match(await owner('GET', '/api/external/agents'), { status: 200 })
})

t.test('callers other than the platform and invalid keys are refused', async (t) => {
  const all = await startApp(t)
  const { asPlatform: platform } = all
  const { owner } = await withOrganization(all)
  t.match(await owner('GET', path), { status: 403, code: 'platform_only' })
  t.match(await owner('POST', path, {}), { status: 403, code: 'platform_only' })
  for (const new_master_key of [keyOf(2, 31), keyOf(2, 33), '', '~'.repeat(44), 7, keyOf(0, 0)]) {
    const answer = await platform('POST', path, { new_master_key })
    t.match(answer, wrong, `${new_master_key}`)
    t.notMatch(JSON.stringify(answer.body), '~~~~', 'the value is not repeated')
  }
  t.match(await platform('GET', path), { body: { state: 'none' } })
})
