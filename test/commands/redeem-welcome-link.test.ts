import t from 'tap'
import { commanded } from '../support/commanded.ts'
import { platformCall } from '../support/recorded.ts'

t.test('a link signs in as whom it was made for, once', async (t) => {
  const all = await commanded(t)
  const of = { organizationId: 'org-1', userId: 'user-1', keyId: 'key-1' }
  const { token } = await all.createWelcomeLink(of, platformCall)
  await all.checkWelcomeLink(token, platformCall.at)
  const session = await all.redeemWelcomeLink({ token }, platformCall)
  await all.seen()
  const hash = all.secrets.hashConsoleToken(session.token)
  t.match(await all.read.consoleSessions.get(hash), {
    user_id: 'user-1',
    key_id: 'key-1',
    method: 'welcome_link',
  })
  const unknown = { code: 'welcome_link_not_found' }
  await t.rejects(all.redeemWelcomeLink({ token }, platformCall), unknown)
  await t.rejects(all.checkWelcomeLink(token, platformCall.at), unknown)
  await t.rejects(all.checkWelcomeLink('other', platformCall.at), unknown)
})
