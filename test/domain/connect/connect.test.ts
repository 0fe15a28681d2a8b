import t from 'tap'
import {
  connect,
  decideCreateLink,
  decideRevokeLinks,
  requireLink,
} from '../../../src/domain/connect/connect.ts'
import type { ConnectEvent } from '../../../src/domain/connect/events.ts'
import { deciding } from '../../support/given.ts'

const link = (n: number, time: string): ConnectEvent<'ConnectLinkCreated'>['data'] => ({
  linkId: `link-${n}`,
  tokenHash: `hash-${n}`,
  agentId: 'agent-1',
  returnUrl: 'https://partner.example/',
  expiresAt: `2026-01-01T${time}:00.000Z`,
})
const created = (n: number, time: string): ConnectEvent => ({
  type: 'ConnectLinkCreated',
  data: link(n, time),
})
const revoked = (...linkIds: string[]): ConnectEvent => ({
  type: 'ConnectLinksRevoked',
  data: { linkIds },
})
const at = (time: string) => `2026-01-01T${time}:00.000Z`

t.test('a link holds until it ends or is revoked', async (t) => {
  const given = deciding(t, connect)
  given()
    .when(decideCreateLink(link(1, '00:30')))
    .emitsOnce(created(1, '00:30'))
  const two = [created(1, '00:30'), created(2, '00:40')]
  given(...two)
    .when(requireLink('link-1', at('00:29')))
    .changesNothing()
  given(...two)
    .when(requireLink('link-1', at('00:30')))
    .refuses('connect_link_not_found')
  given(...two)
    .when(requireLink('link-2', at('00:30')))
    .changesNothing()
  given(...two)
    .when(requireLink('link-3', at('00:00')))
    .refuses('connect_link_not_found')
  given(...two, revoked('link-1', 'link-2'))
    .when(requireLink('link-2', at('00:20')))
    .refuses('connect_link_not_found')
})

t.test('revoking', async (t) => {
  const given = deciding(t, connect)
  const two = [created(1, '00:30'), created(2, '00:40')]
  given(...two)
    .when(decideRevokeLinks(at('00:20')))
    .emitsOnce(revoked('link-1', 'link-2'))
  given(...two)
    .when(decideRevokeLinks(at('00:35')))
    .emitsOnce(revoked('link-2'))
  given(...two)
    .when(decideRevokeLinks(at('00:40')))
    .changesNothing()
  given()
    .when(decideRevokeLinks(at('00:00')))
    .changesNothing()
})
