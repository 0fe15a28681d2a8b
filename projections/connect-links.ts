import { z } from 'zod'
import { connectEvents } from '../src/domain/connect/events.ts'
import type { Recorded } from '../src/domain/event.ts'
import { id, incomplete, text, timestamp } from './fields.ts'
import { idIn, projection } from './projection.ts'

/** A link by the hash of its token; the token itself is nowhere but in the link. */
export const connectLinkView = z.object({
  link_id: id,
  organization_id: id,
  user_id: id,
  agent_id: id,
  return_url: text,
  created_at: timestamp,
  expires_at: timestamp,
  incomplete,
})
export type ConnectLinkView = z.infer<typeof connectLinkView>

const ofUser = ({ stream, metadata }: Recorded) => ({
  index: 'by_user',
  equals: [metadata.organization_id, idIn(stream)],
})

export const connectLinks = projection<ConnectLinkView, typeof connectEvents>()({
  name: 'connect_links',
  schema: connectLinkView,
  shown: { schema: connectLinkView },
  categories: ['connect'],
  events: connectEvents,
  indexes: { by_user: { equals: ['organization_id', 'user_id'], orderBy: 'expires_at' } },
  id: ({ type, data }) => (type === 'ConnectLinkCreated' ? data.tokenHash : []),
  creates: {
    ConnectLinkCreated: ({ stream, metadata, data }) => ({
      link_id: data.linkId,
      organization_id: metadata.organization_id,
      user_id: idIn(stream),
      agent_id: data.agentId,
      return_url: data.returnUrl,
      created_at: metadata.at,
      expires_at: data.expiresAt,
    }),
  },
  changes: {},
  ofStream: ofUser,
  clears: { ConnectLinksRevoked: ofUser },
  ignores: {},
})
