import t from 'tap'
import { connectLinks } from '../../projections/connect-links.ts'
import type { ConnectEvent } from '../../src/domain/connect/events.ts'
import { handlesAll, projecting } from '../support/given.ts'

const created = (n: number): ConnectEvent => ({
  type: 'ConnectLinkCreated',
  data: {
    linkId: `link-${n}`,
    tokenHash: `hash-${n}`,
    agentId: 'agent-1',
    returnUrl: 'https://partner.example/',
    expiresAt: '2026-01-01T00:30:00.000Z',
  },
})

t.test('connect links', async (t) => {
  const seen = projecting(t, connectLinks, 'connect-org-1_user-1')
  seen(created(1), created(2)).shows(
    {
      link_id: 'link-2',
      organization_id: 'org-1',
      user_id: 'user-1',
      agent_id: 'agent-1',
      return_url: 'https://partner.example/',
      created_at: '2026-01-01T00:00:00.000Z',
      expires_at: '2026-01-01T00:30:00.000Z',
    },
    'hash-2',
  )
  const revoked: ConnectEvent = { type: 'ConnectLinksRevoked', data: { linkIds: ['link-1'] } }
  seen(created(1), revoked).showsNothing()
  seen(created(1), revoked, created(2)).shows({ link_id: 'link-2' })
})

t.test('every event it handles was given', async (t) => handlesAll(t, connectLinks))
