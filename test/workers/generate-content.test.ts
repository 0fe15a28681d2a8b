import t from 'tap'
import { type Fault, generationDouble, type Plan } from '../support/generation-double.ts'
import { movableClock, startServer } from '../support/server.ts'
import { hirePainter, painterOf, studio } from '../support/studio.ts'

const refused: Fault = { status: 503 }

t.test('from the request to the stored file', async (t) => {
  const { provider, draw, over, list, organization, server } = await studio(t)
  const bytes = Buffer.from('a fox')
  provider.next({ looks: 2, file: { bytes, type: 'image/png; charset=binary' } })
  const id = await draw('Draw a picture of a fox')
  const item = await over(id)
  t.match(item, {
    id,
    content_type: 'image',
    status: 'completed',
    prompt: 'Draw a picture of a fox',
    provider_version: 'default/image',
    provider_prediction_id: 'p-1',
    provider_input: { prompt: 'Draw a picture of a fox' },
    output_url: `${provider.url}/files/p-1`,
    storage_path: /^[0-9a-f]{64}$/,
    error_message: null,
    credit_cost: 0.04,
    retry_count: 0,
    max_retries: 3,
    organization_id: organization.organizationId,
    user_id: organization.ownerId,
  })
  t.ok(Number.isInteger(item.processing_time_ms))
  t.ok(item.created_at <= item.started_at && item.started_at <= item.completed_at)
  t.equal(await (await fetch(item.storage_url)).text(), 'a fox')
  t.match((await list()).items, [{ id, storage_url: /^http:/ }])
  t.match(provider.made, [{ body: { input: { prompt: item.prompt } }, key: `content:${id}:0` }])
  t.notOk(provider.made[0]?.body.webhook, 'nobody can reach a server without PUBLIC_URL')
  t.ok(
    provider.requests
      .filter(({ what }) => what !== 'file')
      .every(({ headers }) => headers.authorization === 'Bearer provider-key'),
  )
  t.notOk(
    provider.requests.find(({ what }) => what === 'file')?.headers.authorization,
    'the key is not for wherever the file is',
  )
  const { events } = await server.platform.ask(
    'GET',
    `/organizations/${organization.organizationId}/audit/events?limit=500`,
  )
  t.strictSame(
    events
      .map(({ type }: { type: string }) => type)
      .filter((type: string) => type.startsWith('Content'))
      .toSorted(),
    ['ContentCompleted', 'ContentRequested', 'ContentStarted', 'ContentSubmitted'],
  )
})

t.test('credits are held while it is made, and charged once it is', async (t) => {
  const { provider, draw, when, over, retry, organization } = await studio(t)
  const held = async () => {
    const { balance, effective } = await organization.balance()
    return Math.round((balance - effective) * 1e6)
  }
  const before = (await organization.balance()).balance
  const charged = async () => Math.round((before - (await organization.balance()).balance) * 1e6)
  const settled = async () => {
    for (const end = Date.now() + 10_000; (await held()) > 0 && Date.now() < end; );
    return held()
  }
  provider.next({ error: 'No foxes today' }, { held: true })
  const id = await draw()
  const turn = await charged()
  t.match(await over(id), { status: 'failed', credit_cost: 0, error_message: 'No foxes today' })
  t.equal(await settled(), 0, 'what failed costs nothing')
  t.equal(await charged(), turn)
  t.equal((await retry(id)).status, 200)
  await when(id, 'processing')
  t.equal(await held(), 40_000)
  provider.end(1)
  t.match(await over(id), { status: 'completed', credit_cost: 0.04, retry_count: 1 })
  t.equal(await settled(), 0)
  t.equal((await charged()) - turn, 40_000)
})

t.test('an output that was not ordered fails, free of charge, and can be retried', async (t) => {
  const { provider, draw, over, retry, organization } = await studio(t)
  const page = { bytes: Buffer.from('<!doctype html><p>Sign in'), type: 'text/html' }
  const before = (await organization.balance()).balance
  provider.next({ file: { bytes: Buffer.alloc(0), type: 'image/png' } }, { file: page }, {})
  const id = await draw()
  const turn = before - (await organization.balance()).balance
  t.match(await over(id), { status: 'failed', error_message: /empty/, credit_cost: 0 })
  t.equal((await retry(id)).status, 200)
  t.match(await over(id), { status: 'failed', error_message: /text\/html instead of the image/ })
  t.ok(before - (await organization.balance()).balance <= turn, 'neither is charged')
  t.equal((await retry(id)).status, 200)
  t.match(await over(id), { status: 'completed', retry_count: 2, credit_cost: 0.04 })
})

t.test('a retry is made anew', async (t) => {
  const { provider, draw, over, retry } = await studio(t)
  provider.next({ error: 'not now' })
  const id = await draw()
  t.match(await over(id), { status: 'failed', provider_prediction_id: 'p-1' })
  t.equal((await retry(id)).status, 200)
  t.match(await over(id), { status: 'completed', provider_prediction_id: 'p-2' })
  t.strictSame(
    provider.made.map(({ key }) => key),
    [`content:${id}:0`, `content:${id}:1`],
  )
})

/** What a provider does, and what becomes of the item. */
const endings: Record<
  string,
  { plan?: Plan; fail?: [kind: 'create' | 'poll' | 'file', ...Fault[]]; becomes: object }
> = {
  'is busy, then is not': {
    fail: ['create', refused, { status: 429 }],
    becomes: { status: 'completed' },
  },
  'is out of reach while it works': {
    plan: { looks: 3 },
    fail: ['poll', 'cut', refused, 'silent'],
    becomes: { status: 'completed' },
  },
  'takes the request and breaks off': {
    fail: ['create', 'cut'],
    becomes: { status: 'completed' },
  },
  'takes the request and never answers': {
    fail: ['create', 'silent'],
    becomes: { status: 'completed' },
  },
  'breaks off in the file': { fail: ['file', 'cut', 'cut'], becomes: { status: 'completed' } },
  'falls silent in place of the file': {
    fail: ['file', 'silent'],
    becomes: { status: 'completed' },
  },
  'refuses the request': {
    fail: ['create', { status: 422, raw: '{"detail":"provider-key"}' }],
    becomes: { status: 'failed', error_message: 'The provider refused the request (422)' },
  },
  'answers what is no JSON': {
    fail: ['create', { status: 200, raw: '<html>' }],
    becomes: { status: 'failed', error_message: 'The provider answered something unexpected' },
  },
  'answers what is no prediction': {
    plan: { looks: 1 },
    fail: ['poll', { status: 200, raw: '{"id":7,"status":"done"}' }],
    becomes: { status: 'failed', error_message: 'The provider answered something unexpected' },
  },
  'answers without an end': {
    fail: ['create', 'flood'],
    becomes: { status: 'failed', error_message: 'The provider answered something unexpected' },
  },
  'fails without words': {
    plan: { error: { code: 7 } },
    becomes: { status: 'failed', error_message: 'The provider could not make it' },
  },
  'fails with half a character': {
    plan: { error: `\udc00${'x'.repeat(498)}🦊` },
    becomes: { status: 'failed', error_message: `\ufffd${'x'.repeat(498)}` },
  },
  'succeeds with nothing': {
    plan: { output: [] },
    becomes: { status: 'failed', error_message: 'The provider gave no output' },
  },
  'gives an address that is none': {
    plan: { output: 'file:///etc/passwd' },
    becomes: { status: 'failed', error_message: 'The provider gave no output' },
  },
  'has lost the file': {
    fail: ['file', { status: 404 }],
    becomes: { status: 'failed', error_message: 'The output is not there (404)' },
  },
  'sends a huge file': {
    fail: ['file', 'flood'],
    becomes: { status: 'failed', error_message: 'The output is too large' },
  },
}

for (const [what, { plan, fail, becomes }] of Object.entries(endings))
  t.test(`a provider that ${what}`, async (t) => {
    // Short only where a request is never answered: a busy machine is slow to answer the others.
    const timeoutMs = fail?.includes('silent') ? 300 : 60_000
    const generation = { maxBytes: 1_000_000, timeoutMs }
    const { provider, draw, over } = await studio(t, {}, { generation })
    if (plan) provider.next(plan)
    if (fail) {
      const [kind, ...faults] = fail
      provider.fail(kind, ...faults)
    }
    t.match(await over(await draw()), becomes)
    t.ok(provider.made.length <= 1, 'it is made once')
    t.match(await over(await draw('Draw a picture of a heron')), { status: 'completed' })
  })

t.test('cancels a generation that takes longer than ten minutes', async (t) => {
  const clock = movableClock()
  const { provider, draw, when, over } = await studio(t, {}, { clock })
  provider.next({ held: true })
  const id = await draw()
  await when(id, 'processing')
  await provider.until(() => provider.count('poll') > 1)
  provider.fail('cancel', refused)
  clock.advance(10 * 60_000 + 1)
  t.match(await over(id), { status: 'failed', error_message: /longer than 10 minutes/ })
  t.equal(provider.count('cancel'), 1)
})

t.test('a provider that is never reached is given up after ten minutes', async (t) => {
  const clock = movableClock()
  const { provider, draw, over } = await studio(t, {}, { clock })
  provider.fail('create', ...Array<Fault>(1_000).fill(refused))
  const id = await draw()
  await provider.until(() => provider.count('create') > 2)
  clock.advance(10 * 60_000 + 1)
  t.match(await over(id), { status: 'failed', error_message: /longer than 10 minutes/ })
})

t.test('a generation that the provider cancels fails', async (t) => {
  const { provider, draw, over } = await studio(t)
  provider.next({ held: true })
  const id = await draw()
  await provider.until(() => provider.count('poll') > 0)
  await fetch(`${provider.url}/predictions/p-1/cancel`, { method: 'POST' })
  t.match(await over(id), { status: 'failed', error_message: /canceled/ })
})

t.test('a restart resumes running generations, and generates nothing twice', async (t) => {
  const { provider, server, organization, key, agent, draw } = await studio(t)
  provider.next({ held: true }, { held: true })
  const first = await draw()
  await provider.until(() => provider.count('poll') > 0)
  provider.fail('create', 'silent')
  const second = await draw('Draw a picture of a heron')
  await provider.until(() => provider.made.length === 2)
  const ids = [first, second]
  await server.restart()
  provider.end(0)
  provider.end(1)
  const after = painterOf(server.as(key.key), agent)
  for (const id of ids) t.match(await after.over(id), { status: 'completed' })
  t.equal(provider.made.length, 2)
  t.equal((await after.list()).total, 2)
  const { balance, effective } = await server.platform.balanceOf(organization.ownerId)
  t.equal(balance, effective)
})

t.test('killed in the middle, the next life makes nothing twice', async (t) => {
  const provider = await generationDouble()
  t.teardown(provider.close)
  const server = await startServer(t, { GENERATION_BASE_URL: provider.url })
  const { key, agent, draw } = await hirePainter(await server.platform.organization())
  provider.next({ held: true }, { held: true })
  const first = await draw()
  await provider.until(() => provider.count('poll') > 0)
  provider.fail('create', 'silent')
  const second = await draw('Draw a picture of a heron')
  await provider.until(() => provider.made.length === 2)
  await server.kill9()
  await server.restart()
  provider.end(0)
  provider.end(1)
  const after = painterOf(server.as(key.key), agent)
  for (const id of [first, second])
    t.match(await after.over(id), { status: 'completed', retry_count: 0 })
  t.equal(provider.made.length, 2)
  t.equal(provider.count('create'), 3, 'asked again for what was not answered')
})

t.test('a life that is over leaves the work to the next one', async (t) => {
  const { provider, server, draw, key, agent } = await studio(t)
  provider.next({ held: true })
  const id = await draw()
  await provider.until(() => provider.count('poll') > 0)
  await server.restart()
  provider.end(0)
  const after = painterOf(server.as(key.key), agent)
  t.match(await after.over(id), { status: 'completed' })
  t.equal(provider.count('file'), 1)
})

t.test('hanging generations of one organization do not block others', async (t) => {
  const { provider, draw, when, server } = await studio(t)
  provider.next(...Array.from({ length: 8 }, () => ({ held: true })))
  const hanging: string[] = []
  for (let n = 0; n < 10; n++) hanging.push(await draw(`Draw a picture of fox ${n}`))
  for (const id of hanging.slice(0, 8)) await when(id, 'processing')
  const other = await hirePainter(await server.platform.organization())
  t.match(await other.over(await other.draw()), { status: 'completed' })
  t.equal(provider.made.length, 9, 'eight of the one, and one of the other')
})
