import { type Aggregate, streamOf } from '../aggregate.ts'
import { refusal } from '../refusal.ts'
import { type ConnectEvent, connectEvents } from './events.ts'

/** Connect link lifetime (docs/contract/limits.md#times). */
export const linkMs = 30 * 60_000

type Link = { linkId: string; expiresAt: string }

/** The links of one user in one organization that may still be valid. */
export type Connect = { links: readonly Link[] }

/** Links last equally long, so a new link's expiry tells which have expired. */
const stillValid = (links: readonly Link[], expiresAt: string): readonly Link[] =>
  links.filter((link) => Date.parse(link.expiresAt) > Date.parse(expiresAt) - linkMs)

export const connect: Aggregate<Connect, typeof connectEvents> = {
  category: 'connect',
  events: connectEvents,
  initial: { links: [] },
  evolve: {
    ConnectLinkCreated: ({ links }, { linkId, expiresAt }) => ({
      links: [...stillValid(links, expiresAt), { linkId, expiresAt }],
    }),
    ConnectLinksRevoked: ({ links }, { linkIds }) => ({
      links: links.filter(({ linkId }) => !linkIds.includes(linkId)),
    }),
  },
}

export const connectStream = (organizationId: string, userId: string) =>
  streamOf(connect, organizationId, userId)

export const decideCreateLink =
  (data: ConnectEvent<'ConnectLinkCreated'>['data']) =>
  ({ links }: Connect): ConnectEvent<'ConnectLinkCreated'>[] =>
    links.some(({ linkId }) => linkId === data.linkId) ? [] : [{ type: 'ConnectLinkCreated', data }]

/** `at`: ISO 8601, like everything that is compared here. */
export const decideRevokeLinks =
  (at: string) =>
  ({ links }: Connect): ConnectEvent<'ConnectLinksRevoked'>[] => {
    const linkIds = links.filter(({ expiresAt }) => expiresAt > at).map(({ linkId }) => linkId)
    return linkIds.length > 0 ? [{ type: 'ConnectLinksRevoked', data: { linkIds } }] : []
  }

/** @throws connect_link_not_found */
export const requireLink =
  (linkId: string, at: string) =>
  ({ links }: Connect): [] => {
    if (links.some((link) => link.linkId === linkId && link.expiresAt > at)) return []
    throw refusal('connect_link_not_found')
  }
