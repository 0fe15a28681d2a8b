import t from 'tap'
import { commanded } from '../support/commanded.ts'
import { platformCall } from '../support/recorded.ts'

t.test('a session is findSession by the hash of its token until it is ended', async (t) => {
  const all = await commanded(t)
  const call = { ...platformCall, organizationId: 'org-1', userId: 'user-1', keyId: 'key-1' }
  const start = () => all.startConsoleSession({ method: 'api_key' }, call)
  const [first, second, third] = [await start(), await start(), await start()]
  t.match(first.token, /^[\w-]{43}$/)
  t.equal(Date.parse(first.expiresAt) - Date.parse(call.at), 12 * 3_600_000)
  const findSession = async ({ token }: { token: string }) => {
    await all.seen()
    return all.read.consoleSessions.get(all.secrets.hashConsoleToken(token))
  }
  t.match(await findSession(first), { user_id: 'user-1', key_id: 'key-1', method: 'api_key' })
  const tokenHash = all.secrets.hashConsoleToken(first.token)
  await all.endConsoleSession({ tokenHash }, { ...call, userId: 'user-2' })
  t.ok(await findSession(first), 'nobody ends another user’s session')
  await all.endConsoleSession({ tokenHash }, call)
  t.notOk(await findSession(first))
  t.ok(await findSession(second))
  await all.endConsoleSessions({ of: 'all' }, call)
  t.notOk(await findSession(second))
  t.notOk(await findSession(third))
})
