import { hash as hashOf } from 'node:crypto'
import type { Observable } from 'rxjs'
import type { ApiKeyView } from '../../projections/api-keys.ts'
import { type MemberView, memberDocumentId } from '../../projections/members.ts'
import type { UserView } from '../../projections/users.ts'
import { effectiveScopes } from '../domain/api-key/who-may.ts'
import { platformId } from '../domain/event.ts'
import { refusal } from '../domain/refusal.ts'
import type { Clock } from '../ports/clock.ts'
import type { View } from '../ports/views.ts'
import type { Access } from '../security/access.ts'
import { type Secrets, sameSecret } from '../security/secrets.ts'
import { longestId } from '../support/ids.ts'
import { accessCache, type Known } from './access-cache.ts'
import type { Changed } from './changed.ts'

type Uses = {
  apiKeys: View<ApiKeyView>
  members: View<MemberView>
  users: View<UserView>
  /** Changed documents of any read model, as this node sees them. */
  changes: Observable<readonly Changed[]>
  /** Another node may be the one that projects. */
  sharedViews: boolean
  hashApiKey: Secrets['hashApiKey']
  /** The platform's key; undefined: there is none. */
  superAdminKey: string | undefined
  clock: Pick<Clock, 'now' | 'monotonic'>
}

const platformScopes: ReadonlySet<string> = new Set(['admin:read', 'admin:write'])

const platformAccess: Access = {
  kind: 'platform',
  keyId: null,
  organizationId: platformId,
  userId: null,
  role: null,
  scopes: platformScopes,
  keyScopes: platformScopes,
  limits: { minute: 1_000, hour: 100_000 },
  plan: null,
}

/**
 * What a key is known by in this process: no text of a key is kept in memory. Keys are random, so
 * it needs no secret; the hash that is stored takes six times as long.
 */
const digestOf = (apiKey: string): string => hashOf('sha256', apiKey, 'hex')

/** What a key was refused is told where the key belongs: a user key to the platform. */
const denied = ({ key_id, user_id, organization_id }: ApiKeyView) =>
  refusal(
    'organization_access_denied',
    {},
    { organizationId: organization_id ?? platformId, keyId: key_id, userId: user_id },
  )

/**
 * An organization key acts in its own; a user key where the header says, else where its user is.
 */
const organizationOf = (
  key: ApiKeyView,
  user: UserView,
  requestedId: string | undefined,
): string => {
  const organizationId = key.organization_id ?? requestedId ?? user.current_organization_id
  const other = requestedId !== undefined && requestedId !== organizationId
  if (!organizationId || other || organizationId.length > longestId) throw denied(key)
  return organizationId
}

/**
 * Whether a key is older than a membership that it may not be older than. A user key may be older
 * than the first membership of its user.
 */
const isOfFormer = (key: ApiKeyView, member: MemberView): boolean =>
  key.created_at < member.created_at && (key.type === 'organization' || member.again === true)

/**
 * Who a request comes from (docs/contract/authentication.md#authentication). A key works until it
 * is revoked or expires, and while its backing user is an active member of the organization. A
 * known access is answered at once, without a promise, until its sources change.
 * @throws missing_api_key, invalid_api_key, organization_access_denied
 */
export const findAccess = (uses: Uses) => {
  const { apiKeys, members, users, hashApiKey, superAdminKey, clock } = uses
  const superAdminHash = superAdminKey && hashApiKey(superAdminKey)
  const cache = accessCache(uses)

  /** By its id if it is known: a search looks at more than documents in memory. */
  const findKey = async (hash: string, keyId: string | undefined): Promise<ApiKeyView> => {
    const before = keyId === undefined ? undefined : await apiKeys.get(keyId)
    if (before && !before.incomplete && sameSecret(before.hash, hash)) return before
    const { items } = await apiKeys.find({ index: 'by_hash', equals: [hash], limit: 1 })
    const [key] = items
    // The unreadable event may be its revocation.
    if (!key || key.incomplete || !sameSecret(key.hash, hash)) throw refusal('invalid_api_key')
    return key
  }

  const read = async (
    hash: string,
    requestedId: string | undefined,
    keyId: string | undefined,
  ): Promise<Known> => {
    const readAt = clock.monotonic()
    const key = await findKey(hash, keyId)
    const until = key.expires_at ? Date.parse(key.expires_at) : Number.POSITIVE_INFINITY
    const user = await users.get(key.user_id)
    if (until <= clock.now().getTime() || !user || user.incomplete) throw refusal('invalid_api_key')
    const organizationId = organizationOf(key, user, requestedId)
    const memberId = memberDocumentId(organizationId, user.user_id)
    const member = await members.get(memberId)
    if (member?.status !== 'active' || member.incomplete || isOfFormer(key, member))
      throw key.type === 'user' ? denied(key) : refusal('invalid_api_key')
    const access: Access = {
      kind: key.type,
      keyId: key.key_id,
      organizationId,
      userId: user.user_id,
      role: member.role,
      scopes: effectiveScopes(member.role, key.scopes),
      keyScopes: new Set(key.scopes),
      limits: { minute: key.rate_limit_minute, hour: key.rate_limit_hour },
      plan: user.plan,
    }
    const sources = [`api_keys/${key.key_id}`, `users/${user.user_id}`, `members/${memberId}`]
    return { access, until, readAt, sources, key }
  }

  const find = (
    apiKey: string | undefined,
    organizationHeader: string | undefined,
  ): Access | Promise<Access> => {
    if (!apiKey) throw refusal('missing_api_key')
    const requestedId = organizationHeader || undefined
    const digest = digestOf(apiKey)
    const cacheKey = requestedId ? `${digest} ${requestedId}` : digest
    const cached = cache.get(cacheKey, clock.monotonic())
    if (cached && cached.until <= clock.now().getTime()) throw refusal('invalid_api_key')
    if (cached) return cached.access
    const hash = hashApiKey(apiKey)
    if (superAdminHash && sameSecret(hash, superAdminHash)) return platformAccess
    const { keyId } = cache.outdated(cacheKey)?.access ?? {}
    return cache.fill(cacheKey, () => read(hash, requestedId, keyId ?? undefined))
  }

  return { find, close: cache.close }
}
