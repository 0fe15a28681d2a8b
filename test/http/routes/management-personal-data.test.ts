import t, { type Test } from 'tap'
import { user } from '../../support/client.ts'
import { eventually } from '../../support/eventually.ts'
import { partner } from '../../support/partner.ts'
import type { Organization } from '../../support/platform.ts'
import { startApp, startChat } from '../../support/server.ts'

const users = '/api/external/management/users'
const scopes = [
  'orchestrator:invoke',
  'sessions:delete',
  'sessions:read',
  'users:provision',
  'users:delegate',
  'users:credentials',
  'admin:read',
  'admin:write',
]
const remember = (text: string) => ({ calls: [{ name: 'remember', arguments: { text } }] })
const recall = { calls: [{ name: 'recall', arguments: {} }] }

/** Users of partners whose orchestrator remembers and recalls over a scripted provider. */
const scene = async (t: Test) => {
  const { provider, server, organization } = await startChat(t)
  const partnerOf = async (tenant: Organization) => {
    const { organizationId: organization_id } = tenant
    const at = `/api/admin/organizations/${organization_id}`
    const key = await tenant.key({ scopes })
    const settings = { tools: ['remember', 'recall'] }
    await server.platform.ask(
      'PATCH',
      `/organizations/${organization_id}/agents/${await tenant.orchestrator()}`,
      settings,
    )
    return {
      ...key,
      organization_id,
      at,
      provisioned: async (email: string): Promise<string> =>
        (await key.ask('POST', users, { email, organization_id })).body.user_id,
      erase: (user_id: string, what: string) => key.ask('DELETE', `${users}/${user_id}/${what}`),
      async remembers(on_behalf_of: string, text: string) {
        provider.next(remember(text))
        t.equal((await key.chat({ on_behalf_of, messages: user('Hi') })).status, 200)
      },
      /** The memories that a turn of the user is shown. */
      async recalled(on_behalf_of: string): Promise<string[]> {
        provider.next(recall)
        await key.chat({ on_behalf_of, messages: user('Hi') })
        const content = provider.requests.at(-1)?.body.messages.at(-1)?.content
        return JSON.parse(content ?? '').memories
      },
      async events(type: string) {
        return (await key.ask('GET', `${at}/audit/events?type=${type}`)).body.events
      },
    }
  }
  return { provider, server, first: await partnerOf(organization), partnerOf }
}

t.test('erases all memories of one user in one organization, for good', async (t) => {
  const { first, server, partnerOf } = await scene(t)
  const other = await partnerOf(await server.platform.organization())
  const ann = await first.provisioned('ann@example.com')
  const bo = await first.provisioned('bo@example.com')
  t.equal(await other.provisioned('ann@example.com'), ann)
  await first.remembers(ann, 'Ann likes herons.')
  await first.remembers(ann, 'Ann lives in Delft.')
  await first.remembers(bo, 'Bo likes storks.')
  await other.remembers(ann, 'Ann likes owls.')
  const at = (await first.events('MemoryRemembered')).at(-1).position

  t.match(await first.erase(ann, 'memories'), { status: 200, body: { deleted: 2 } })
  t.strictSame(await first.recalled(ann), [])
  t.strictSame(await first.recalled(bo), ['Bo likes storks.'])
  t.strictSame(await other.recalled(ann), ['Ann likes owls.'])
  t.match(await first.erase(ann, 'memories'), { status: 200, body: { deleted: 0 } })

  const [erased, ...rest] = await first.events('MemoriesErased')
  t.strictSame(rest, [], 'nothing was left for the second')
  const keyId = `memory:${first.organization_id}/${ann}`
  t.match(erased.data, {
    delegated: true,
    scope: ['memories'],
    memories: 2,
    keyIds: [keyId],
    destroyedAt: /Z$/,
  })
  t.match(
    (await first.events('MemoryRemembered')).map(({ data }: { data: object }) => data),
    [{ text: { erased: true } }, { text: { erased: true } }, { text: 'Bo likes storks.' }],
  )
  const state = await first.ask('GET', `${first.at}/audit/state?view=memories&as_of=${at}`)
  t.notMatch(JSON.stringify(state.body), /herons|Delft/, 'also as it was before')

  await first.remembers(ann, 'Ann likes herons.')
  t.strictSame(await first.recalled(ann), ['Ann likes herons.'], 'the user goes on')
  t.match(await first.erase(ann, 'memories'), { body: { deleted: 1 } })
  t.match((await first.events('MemoriesErased')).at(-1).data, { keyIds: [`${keyId}/1`] })
})

t.test('a turn that began before an erasure remembers nothing after it', async (t) => {
  const { first, provider } = await scene(t)
  const ann = await first.provisioned('ann@example.com')
  await first.remembers(ann, 'Ann likes herons.')
  let go = (_: unknown): void => undefined
  const until = new Promise((resolve) => {
    go = resolve
  })
  const before = provider.requests.length
  provider.next({ ...remember('She likes herons, as I knew.'), hold: { after: 1, until } })
  const turn = first.chat({ on_behalf_of: ann, messages: user('Hi') })
  await eventually(async () => provider.requests.length > before)
  t.match(await first.erase(ann, 'memories'), { body: { deleted: 1 } })
  go(undefined)
  t.equal((await turn).status, 200)
  t.match(provider.requests.at(-1)?.body.messages.at(-1)?.content, /memories .* were erased/)
  t.strictSame(await first.recalled(ann), [])
  await first.remembers(ann, 'Ann likes owls.')
  t.strictSame(await first.recalled(ann), ['Ann likes owls.'], 'later turns do')
})

t.test('personal data', async (t) => {
  const { first, server, partnerOf } = await scene(t)
  const other = await partnerOf(await server.platform.organization())
  const find = async (by: typeof first, email: string) =>
    (await by.ask('GET', `${users}?email=${email}`)).body.users[0]
  const erase = (by: typeof first, user_id: string) => by.erase(user_id, 'personal-data')
  const store = (by: typeof first, user_id: string) =>
    by.ask('PUT', `${users}/${user_id}/credentials/SHOP`, { value: 'never-shown' })

  t.test(
    'erases memories, credentials, invitation and the account that nobody else has',
    async (t) => {
      const ann = await first.provisioned('ann@example.com')
      await first.remembers(ann, 'Ann likes herons.')
      await store(first, ann)
      const { status, body } = await erase(first, ann)
      t.equal(status, 200)
      const at = `${first.organization_id}/${ann}`
      const certificate = {
        scope: ['memories', 'credentials', 'account', 'invitation'],
        memories: 1,
        credentials: 1,
      }
      const keys = [`memory:${at}`, `credentials:${at}`, `user:${ann}`, `member:${at}`]
      t.match(body, { ...certificate, key_ids: keys, destroyed_at: /Z$/ })
      const [{ data }] = await first.events('PersonalDataErased')
      t.match(data, {
        ...certificate,
        delegated: true,
        keyIds: keys,
        destroyedAt: body.destroyed_at,
      })

      t.match(await find(first, 'ann@example.com'), { user_id: ann, email: null, name: null })
      t.match(await first.ask('GET', `${users}/${ann}/credentials`), { body: { total: 0 } })
      t.strictSame(await first.recalled(ann), [])
      const { events } = (await first.ask('GET', `${first.at}/audit/events?limit=200`)).body
      const inSessions = /^session-/
      const others = events.filter(({ stream }: { stream: string }) => !inSessions.test(stream))
      t.notMatch(JSON.stringify(others), /ann@example|herons/)
      t.strictSame((await erase(first, ann)).body, {
        scope: [],
        memories: 0,
        credentials: 0,
        key_ids: [],
        destroyed_at: null,
      })

      t.match(await store(first, ann), { status: 200, body: { created: true } })
      t.match(await first.erase(ann, 'credentials/SHOP'), { status: 204 })
      t.match(await erase(first, ann), {
        body: { credentials: 0, key_ids: [`credentials:${at}/1`] },
      })
    },
  )

  t.test('leaves what another organization and the person have', async (t) => {
    const bo = await first.provisioned('bo@example.com')
    t.equal(await other.provisioned('bo@example.com'), bo)
    await other.remembers(bo, 'Bo likes owls.')
    await store(other, bo)
    t.match((await erase(first, bo)).body, { scope: ['invitation'] })
    t.match(await find(other, 'bo@example.com'), { email: 'bo@example.com', name: 'bo' })
    t.strictSame(await other.recalled(bo), ['Bo likes owls.'])
    t.match(await other.ask('GET', `${users}/${bo}/credentials`), { body: { total: 1 } })

    const cy = await first.provisioned('cy@example.com')
    const login = { email: 'cy@example.com', provider: 'test', subject: 'cy' }
    await server.platform.ask('POST', '/identity/logins', login)
    t.match((await erase(first, cy)).body, { scope: ['invitation'] }, 'who signed in has her own')
  })

  t.test('of a former member; who joins again has a name again', async (t) => {
    const di = await first.provisioned('di@example.com')
    await store(first, di)
    await first.ask('DELETE', `${first.at}/members/${di}`)
    t.match((await erase(first, di)).body, {
      scope: ['credentials', 'account', 'invitation'],
      credentials: 1,
    })
    t.equal(await first.provisioned('di@example.com'), di)
    t.match(await find(first, 'di@example.com'), { email: 'di@example.com', name: 'di' })
    t.match((await erase(first, di)).body, {
      key_ids: [`member:${first.organization_id}/${di}/1`],
    })
  })
})

t.test('who may be erased, and by whom', async (t) => {
  const all = await startApp(t)
  const { at, owner, provisioned, key, member, owner_user_id } = await partner(all)
  const other = await partner(all, 'other')
  const ann = await provisioned('ann@example.com')
  const invited = (await owner('POST', `${at}/members`, { email: 'in@example.com' })).body.user_id
  const erase = await key('sessions:delete')
  const elsewhere = await other.key('sessions:delete')
  const worker = await member('mo@example.com', 'sessions:delete')
  for (const what of ['memories', 'personal-data']) {
    const of = (user_id: string) => `${users}/${user_id}/${what}`
    t.match(await erase('DELETE', of(ann.user_id)), { status: 200 })
    for (const nobody of ['nobody', 'a/b', other.owner_user_id])
      t.match(await erase('DELETE', of(encodeURIComponent(nobody))), {
        status: 404,
        code: 'user_not_found',
      })
    for (const colleague of [invited, owner_user_id])
      t.match(await erase('DELETE', of(colleague)), { status: 403, code: 'not_provisioned' })
    t.match(await elsewhere('DELETE', of(ann.user_id)), { status: 404, code: 'user_not_found' })
    t.match(await worker('DELETE', of(ann.user_id)), { status: 403, code: 'insufficient_scopes' })
    t.match(await owner('DELETE', of(ann.user_id)), { status: 403, code: 'insufficient_scopes' })
  }
})

t.test(
  'a turn that waits for a decision during an erasure remembers nothing after it',
  async (t) => {
    const { server, organization, provider } = await startChat(t)
    const { organizationId: organization_id } = organization
    const more = ['agents:invoke', 'approvals:read', 'approvals:decide']
    const { ask, chat } = await organization.key({ scopes: [...scopes, ...more] })
    const settings = { tools: [{ type: 'remember', requires_approval: true }] }
    const agent = await organization.orchestrator()
    await server.platform.ask(
      'PATCH',
      `/organizations/${organization_id}/agents/${agent}`,
      settings,
    )
    const created = await ask('POST', users, { email: 'ann@example.com', organization_id })
    const { user_id } = created.body
    const about = `on_behalf_of=${user_id}`
    /** Asks in a session, and decides on what is then pending. */
    const paused = async (session_id: string, text: string) => {
      provider.next(remember(text))
      await chat({ session_id, on_behalf_of: user_id, messages: user('Hi') })
      const { body } = await ask('GET', `/api/external/approvals?${about}`)
      const [{ approval_id, arguments_digest }] = body.approvals.filter(
        (approval: { session_id: string }) => approval.session_id === session_id,
      )
      return async () => {
        const decision = { decision: 'approve', arguments_digest, on_behalf_of: user_id }
        const decided = await ask('POST', `/api/external/approvals/${approval_id}`, decision)
        t.equal(decided.status, 200)
        const lastMessage = () => provider.requests.at(-1)?.body.messages.at(-1)
        const answer = await eventually(
          async () => lastMessage()?.role === 'tool' && lastMessage()?.content,
        )
        return answer
      }
    }
    const first = await paused('one', 'Ann likes herons.')
    t.match(await first(), /Remembered/)
    const second = await paused('two', 'Ann likes herons, as I knew.')
    t.match(await ask('DELETE', `${users}/${user_id}/memories`), { body: { deleted: 1 } })
    t.match(await second(), /memories .* were erased/)
    t.match(await ask('DELETE', `${users}/${user_id}/memories`), { body: { deleted: 0 } })
  },
)
