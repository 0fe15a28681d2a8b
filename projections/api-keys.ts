import { z } from 'zod'
import { saturate } from '../src/domain/amounts.ts'
import { apiKeyEvents } from '../src/domain/api-key/events.ts'
import { count, id, incomplete, text, timestamp } from './fields.ts'
import { idIn, projection } from './projection.ts'

/** A live or expired key; one that is revoked is not here. */
export const apiKeyView = z.object({
  key_id: id,
  organization_id: id.nullable().describe('Null for a user key'),
  user_id: id,
  type: z.enum(['organization', 'user']),
  hash: text,
  key_hint: text.describe('The last four characters of the key, after an ellipsis'),
  name: text,
  description: text,
  scopes: z.array(text),
  rate_limit_minute: count,
  rate_limit_hour: count,
  provisioning: z.boolean(),
  expires_at: timestamp.nullable(),
  created_at: timestamp,
  last_used_at: timestamp.nullable(),
  request_count: count,
  incomplete,
})
export type ApiKeyView = z.infer<typeof apiKeyView>

export const apiKeys = projection<ApiKeyView, typeof apiKeyEvents>()({
  name: 'api_keys',
  schema: apiKeyView,
  shown: {
    schema: apiKeyView.omit({ hash: true }).extend({ organization_id: id }),
    document: ({ hash: _, ...key }) => key,
  },
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
      request_count: saturate(view.request_count + data.requests),
    }),
  },
  removes: ['ApiKeyRevoked'],
  ignores: {},
})
