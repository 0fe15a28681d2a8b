import { apiKeyEvents } from '../src/domain/api-key/events.ts'
import { idIn, type Projection } from './projection.ts'

/** A live or expired key; one that is revoked is not here. */
export type ApiKeyView = {
  key_id: string
  /** Null for a user key. */
  organization_id: string | null
  user_id: string
  type: 'organization' | 'user'
  hash: string
  /** All that is shown of the key: its last four characters. */
  key_hint: string
  name: string
  description: string
  scopes: string[]
  rate_limit_minute: number
  rate_limit_hour: number
  provisioning: boolean
  expires_at: string | null
  created_at: string
  last_used_at: string | null
  request_count: number
}

export const apiKeys: Projection<ApiKeyView, typeof apiKeyEvents> = {
  name: 'api_keys',
  categories: ['apikey'],
  events: apiKeyEvents,
  indexes: {
    by_hash: { equals: ['hash'] },
    by_organization: { equals: ['organization_id'], orderBy: 'created_at' },
    by_user: { equals: ['user_id', 'type'], orderBy: 'created_at' },
  },
  id: ({ stream }) => idIn(stream),
  creates: {
    ApiKeyCreated: ({ data, metadata }, id) => ({
      key_id: id,
      organization_id: data.type === 'user' ? null : metadata.organization_id,
      user_id: data.userId,
      type: data.type,
      hash: data.hash,
      key_hint: `…${data.last4}`,
      name: data.name,
      description: data.description,
      scopes: data.scopes,
      rate_limit_minute: data.rateLimitMinute,
      rate_limit_hour: data.rateLimitHour,
      provisioning: data.provisioning,
      expires_at: data.expiresAt,
      created_at: metadata.at,
      last_used_at: null,
      request_count: 0,
    }),
  },
  changes: {
    ApiKeyChanged: (view, { data }) => ({
      ...view,
      name: data.name ?? view.name,
      description: data.description ?? view.description,
      scopes: data.scopes ?? view.scopes,
      rate_limit_minute: data.rateLimitMinute ?? view.rate_limit_minute,
      rate_limit_hour: data.rateLimitHour ?? view.rate_limit_hour,
      expires_at: data.expiresAt === undefined ? view.expires_at : data.expiresAt,
    }),
    ApiKeyUsed: (view, { data }) => ({
      ...view,
      last_used_at: data.lastUsedAt,
      request_count: view.request_count + data.requests,
    }),
  },
  removes: ['ApiKeyRevoked'],
}
