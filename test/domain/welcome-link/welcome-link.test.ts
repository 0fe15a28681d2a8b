import t from 'tap'
import type { WelcomeLinkEvent } from '../../../src/domain/welcome-link/events.ts'
import {
  decideCreateWelcomeLink,
  decideRedeemWelcomeLink,
  welcomeLink,
} from '../../../src/domain/welcome-link/welcome-link.ts'
import { deciding } from '../../support/given.ts'

const at = (time: string) => `2026-01-01T${time}:00.000Z`
const data = { organizationId: 'org-1', userId: 'user-1', keyId: 'key-1', expiresAt: at('01:00') }
const created: WelcomeLinkEvent = { type: 'WelcomeLinkCreated', data }
const used: WelcomeLinkEvent = { type: 'WelcomeLinkUsed', data: {} }

t.test('a link is used once, before it expires', async (t) => {
  const given = deciding(t, welcomeLink)
  given().when(decideCreateWelcomeLink(data)).emitsOnce(created)
  given(created)
    .when(decideRedeemWelcomeLink(at('00:59')))
    .emits(used)
  given(created)
    .when(decideRedeemWelcomeLink(at('01:00')))
    .refuses('welcome_link_not_found')
  given(created, used)
    .when(decideRedeemWelcomeLink(at('00:01')))
    .refuses('welcome_link_not_found')
  given()
    .when(decideRedeemWelcomeLink(at('00:01')))
    .refuses('welcome_link_not_found')
})
