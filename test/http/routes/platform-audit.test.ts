import t from 'tap'
import { readModels } from '../../../projections/all.ts'
import { openedCheckpoint } from '../../../src/transparency/checkpoint.ts'
import { withOrganization } from '../../support/partner.ts'
import { superAdminKey } from '../../support/platform.ts'
import { type StartedApp, startApp } from '../../support/server.ts'
import { consistentWith, includedIn, rootOfLeaves } from '../../support/tree-verifier.ts'

const at = '/api/admin/platform/audit'

const textOf =
  ({ http }: StartedApp) =>
  async (path: string, key = superAdminKey) => {
    const reply = await http.inject({ url: `${at}/${path}`, headers: { 'x-api-key': key } })
    return reply.body
  }

type Event = {
  id: string
  position: number
  type: string
  stream: string
  data: Record<string, unknown>
  metadata: { organization_id: string }
}

/** An organization, and what the platform did to its owner. */
const withHistory = async (t: Parameters<typeof startApp>[0]) => {
  const all = await startApp(t, {}, { laterApart: true })
  const organization = await withOrganization(all)
  const { asPlatform: platform } = all
  const user = `/api/admin/users/${organization.owner_user_id}`
  await platform('PUT', `${user}/subscription`, { plan: 'basic_monthly' })
  await platform('POST', `${user}/credits`, { amount: 5, reason: 'refund for Acme' })
  await platform('POST', '/api/admin/identity/logins', {
    email: 'owner@example.com',
    provider: 'sso',
    subject: 'olga',
  })
  const events = async (query = ''): Promise<Event[]> =>
    (await platform('GET', `${at}/events?limit=500&${query}`)).body.events
  return { ...all, ...organization, events, text: textOf(all) }
}

t.test('the platform reads what belongs to no organization, and only that', async (t) => {
  const { events, owner, asPlatform: platform, at: inside, owner_user_id } = await withHistory(t)
  const seen = await events()
  const types = seen.map(({ type }) => type)
  for (const type of ['KeysRegistered', 'SubscriptionChanged', 'CreditsGranted', 'IdentityLinked'])
    t.ok(types.includes(type), type)
  for (const { metadata } of seen) t.equal(metadata.organization_id, 'platform')
  t.match(await events('type=CreditsGranted'), [
    { stream: `account-${owner_user_id}`, data: { amount: 5_000_000, reason: 'refund for Acme' } },
  ])
  t.match(await events(`stream=user-${owner_user_id}`), [
    { type: 'SubscriptionChanged' },
    { type: 'IdentityLinked' },
  ])
  const login = { email: 'self@example.com', provider: 'sso', subject: 'self' }
  t.equal((await platform('POST', '/api/admin/identity/logins', login)).status, 200)
  t.match(await events('type=UserRegistered'), [
    { data: { email: 'self@example.com', name: 'self', origin: 'self' } },
  ])
  const organization = inside.split('/').at(-1)
  t.strictSame(await events(`stream=organization-${organization}_${organization}`), [])

  const own = (await owner('GET', `${inside}/audit/events?limit=500`)).body.events
  const ids = new Set(own.map(({ id }: Event) => id))
  t.notOk(
    seen.some(({ id }) => ids.has(id)),
    'no event is in two histories',
  )
})

t.test("the platform's history is a transparency log", async (t) => {
  const { asPlatform: platform, text, events, owner_user_id } = await withHistory(t)
  const vkey = (await text('key')).trim()
  t.match(vkey, /^reprise\/platform\+/)
  const first = openedCheckpoint(await text('checkpoint'), vkey)
  for (let n = 0; n < 260; n++)
    await platform('POST', `/api/admin/users/${owner_user_id}/credits`, { amount: 1, reason: 'a' })
  const { size, root, origin } = openedCheckpoint(await text('checkpoint'), vkey)
  t.equal(origin, 'reprise/platform')
  t.equal(size, first.size + 260)
  const leaves = (await text('export')).trimEnd().split('\n')
  t.strictSame(rootOfLeaves(leaves), root)
  t.strictSame(
    leaves.map((leaf) => JSON.parse(leaf).id),
    (await events()).map(({ id }) => id),
  )
  const bytes = (hash: string) => Buffer.from(hash, 'base64')
  const index = 257
  const included = (await platform('GET', `${at}/proofs/inclusion?index=${index}`)).body
  t.ok(
    includedIn({
      leaf: bytes(included.leaf_hash),
      index,
      size,
      proof: included.hashes.map(bytes),
      root,
    }),
  )
  const grown = (await platform('GET', `${at}/proofs/consistency?from=${first.size}`)).body
  const proof = grown.hashes.map(bytes)
  t.ok(consistentWith({ from: first.size, to: size, proof, before: first.root, after: root }))
  t.equal((await text('tile/0/000')).length > 0, true)
  t.match(await text('tile/entries/000'), 'KeysRegistered')
  t.match(await platform('GET', `${at}/tile/0/007`), { status: 404, code: 'tile_not_found' })
})

t.test('platform changes to a user are in the histories of her organizations', async (t) => {
  const all = await withHistory(t)
  const {
    asPlatform: platform,
    tick,
    owner,
    clientOf: as,
    owner_user_id,
    organization_id,
    at: inside,
  } = all
  const created = await platform('POST', '/api/admin/organizations', {
    name: 'Other',
    owner: { email: 'other@example.com' },
    credits: 3,
  })
  const theirs = `/api/admin/organizations/${created.body.organization_id}`
  await tick()
  const changesIn = async (path: string, ask = platform): Promise<Event[]> =>
    (await ask('GET', `${path}/audit/events?type=MemberAccountChanged`)).body.events
  const seen = await changesIn(inside, owner)
  t.match(
    seen.map(({ data }) => data.change),
    [
      { kind: 'plan', plan: 'basic_monthly' },
      { kind: 'credits', amount: 5_000_000 },
      { kind: 'identity' },
    ],
  )
  for (const { stream, metadata } of seen) {
    t.equal(stream, `member-${organization_id}_${owner_user_id}`)
    t.match(metadata, { organization_id, actor: { key_id: null, user_id: null } })
  }
  t.notMatch(JSON.stringify(seen), /refund|sso|olga/)
  const own = await all.events()
  for (const { data } of seen) {
    const source = own.find(({ id }) => id === data.eventId)
    t.match(source, { position: data.position, metadata: { at: data.at } })
  }
  t.strictSame(await changesIn(theirs), [], 'its owner’s credits are in its own history already')

  const { key } = (await platform('POST', `${theirs}/api-keys`, { name: 'Own', type: 'user' })).body
  const forbidden = await as(key)('GET', `${inside}/audit/events?type=MemberAccountChanged`)
  t.match(forbidden, { status: 403, code: 'organization_access_denied' })
  const stolen = await as(key)('GET', `${theirs}/audit/events?stream=${seen[0]?.stream}`)
  t.strictSame(stolen.body.events, [])

  await tick()
  t.strictSame(await changesIn(inside, owner), seen, 'once')
})

t.test("the platform's history returns the state of every read model", async (t) => {
  const { asPlatform: platform } = await withHistory(t)
  for (const view of readModels.keys())
    t.match(await platform('GET', `${at}/state?view=${view}`), {
      status: 200,
      body: { view, total: 0, documents: [] },
    })
  t.match(await platform('GET', `${at}/state?view=users`), { code: 'read_model_not_found' })
})

t.test("nobody but the platform reads the platform's history", async (t) => {
  const all = await withHistory(t)
  const { clientOf: as, asPlatform: platform, owner, http, at: inside } = all
  const { key } = (
    await platform('POST', `${inside}/api-keys`, {
      name: 'Admin',
      scopes: ['admin:read', 'admin:write'],
    })
  ).body
  const paths = [
    'events',
    'events?type=CreditsGranted',
    'key',
    'checkpoint',
    'export',
    'proofs/inclusion?index=0',
    'proofs/consistency?from=1',
    'tile/0/000.p/1',
    'tile/entries/000.p/1',
    'state?view=members',
  ]
  for (const path of paths) {
    for (const ask of [owner, as(key), as(key, { 'x-organization-id': 'platform' })]) {
      const { status, code } = await ask('GET', `${at}/${path}`)
      t.equal(status, 403, path)
      t.match(code, /^(platform_only|organization_access_denied)$/)
    }
    const lines = await http.inject({
      url: `${at}/${path}`,
      headers: { 'x-api-key': key, accept: 'application/x-ndjson' },
    })
    t.equal(lines.statusCode, 403)
    t.equal((await http.inject({ url: `${at}/${path}` })).statusCode, 401)
    const named = await owner('GET', `/api/admin/organizations/platform/audit/${path}`)
    t.ok(named.status === 400 || named.status === 403, `${path}: ${named.status}`)
  }
  const stream = `user-${all.owner_user_id}`
  const own = await owner('GET', `${inside}/audit/events?stream=${stream}`)
  t.notOk(own.body.events.some(({ type }: Event) => type === 'IdentityLinked'))
})

t.test(
  'every audit route of an organization but the charges of its runs has its twin',
  async (t) => {
    const { http } = await startApp(t, {}, { laterApart: true })
    await http.ready()
    const { paths } = (await http.inject('/api/openapi.json')).json()
    const under = (path: string) =>
      Object.keys(paths)
        .filter((route) => route.startsWith(path))
        .map((route) => route.slice(path.length))
        .toSorted()
    const twins = under(`${at}/`)
    t.ok(twins.length > 5)
    const ofOrganization = under('/api/admin/organizations/{organization_id}/audit/')
    t.strictSame([...twins, 'charges'].toSorted(), ofOrganization)
  },
)
