import { hash as hashOf } from 'node:crypto'
import type { Observable } from 'rxjs'
import type { ApiKeyView } from '../../projections/api-keys.ts'
import type { ConsoleSessionView } from '../../projections/console-sessions.ts'
import { type MemberView, memberDocumentId } from '../../projections/members.ts'
import type { UserView } from '../../projections/users.ts'
import { defaultLimits, defaultScopes } from '../domain/api-key/scopes.ts'
import { effectiveScopes } from '../domain/api-key/who-may.ts'
import { platformId } from '../domain/event.ts'
import { Refusal, refusal } from '../domain/refusal.ts'
import type { Clock } from '../ports/clock.ts'
import type { View } from '../ports/views.ts'
import type { Access, ConsoleSession } from '../security/access.ts'
import { type Secrets, sameSecret, tokenForm } from '../security/secrets.ts'
import { longestId } from '../support/ids.ts'
import { accessCache, type Known } from './access-cache.ts'
import type { Changed } from './changed.ts'

type Uses = {
  apiKeys: View<ApiKeyView>
  consoleSessions: View<ConsoleSessionView>
  members: View<MemberView>
  users: View<UserView>
  /** Changed documents of any read model, as this node sees them. */
  changes: Observable<readonly Changed[]>
  /** Another node may be the one that projects. */
  sharedViews: boolean
  hashApiKey: Secrets['hashApiKey']
  hashConsoleToken: Secrets['hashConsoleToken']
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

/** What a request acts with: a key, or the rights of a person who signed in without one. */
type Right = Pick<
  ApiKeyView,
  | 'type'
  | 'user_id'
  | 'organization_id'
  | 'scopes'
  | 'created_at'
  | 'expires_at'
  | 'rate_limit_minute'
  | 'rate_limit_hour'
> & { key_id: string | null }

/** A person who signed in by OpenID Connect has what a new user key has. */
const rightOf = (userId: string, { created_at, expires_at }: ConsoleSessionView): Right => ({
  key_id: null,
  type: 'user',
  user_id: userId,
  organization_id: null,
  scopes: [...defaultScopes.user],
  created_at,
  expires_at,
  rate_limit_minute: defaultLimits.minute,
  rate_limit_hour: defaultLimits.hour,
})

/** How far the clock may have stepped back since a session began. */
const mostStepBackMs = 60_000

/** What a key was refused is told where the key belongs: a user key to the platform. */
const denied = ({ key_id, user_id, organization_id }: Right) =>
  refusal(
    'organization_access_denied',
    {},
    { organizationId: organization_id ?? platformId, keyId: key_id, userId: user_id },
  )

/**
 * An organization key acts in its own; a user key where the header says, else where its user is.
 */
const organizationOf = (key: Right, user: UserView, requestedId: string | undefined): string => {
  const organizationId = key.organization_id ?? requestedId ?? user.current_organization_id
  const other = requestedId !== undefined && requestedId !== organizationId
  if (!organizationId || other || organizationId.length > longestId) throw denied(key)
  return organizationId
}

/**
 * Whether a key is older than a membership that it may not be older than. A user key may be older
 * than the first membership of its user.
 */
const isOfFormer = (key: Right, member: MemberView): boolean =>
  key.created_at < member.created_at && (key.type === 'organization' || member.again === true)

/**
 * Who a request comes from (docs/contract/authentication.md#authentication). A key works until it
 * is revoked or expires, and while its backing user is an active member of the organization. A
 * known access is answered at once, without a promise, until its sources change.
 * A console session works as long as the key that it was begun with, for 12 hours at most.
 * @throws missing_api_key, invalid_api_key, invalid_session, organization_access_denied
 */
export const findAccess = (uses: Uses) => {
  const { apiKeys, consoleSessions, members, users, superAdminKey, clock } = uses
  const { hashApiKey, hashConsoleToken } = uses
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

  const untilOf = ({ expires_at }: Pick<Right, 'expires_at'>): number =>
    expires_at ? Date.parse(expires_at) : Number.POSITIVE_INFINITY

  /** What a right allows in an organization. */
  const read = async (right: Right, requestedId: string | undefined) => {
    const until = untilOf(right)
    const user = await users.get(right.user_id)
    if (until <= clock.now().getTime() || !user || user.incomplete) throw refusal('invalid_api_key')
    const organizationId = organizationOf(right, user, requestedId)
    const memberId = memberDocumentId(organizationId, user.user_id)
    const member = await members.get(memberId)
    if (member?.status !== 'active' || member.incomplete || isOfFormer(right, member))
      throw right.type === 'user' ? denied(right) : refusal('invalid_api_key')
    const access: Access = {
      kind: right.type,
      keyId: right.key_id,
      organizationId,
      userId: user.user_id,
      role: member.role,
      scopes: effectiveScopes(member.role, right.scopes),
      keyScopes: new Set(right.scopes),
      limits: { minute: right.rate_limit_minute, hour: right.rate_limit_hour },
      plan: user.plan,
    }
    return { access, until, sources: [`users/${user.user_id}`, `members/${memberId}`] }
  }

  const readKey = async (
    hash: string,
    requestedId: string | undefined,
    keyId: string | undefined,
  ): Promise<Known> => {
    const readAt = clock.monotonic()
    const key = await findKey(hash, keyId)
    const { access, until, sources } = await read(key, requestedId)
    return { access, until, readAt, sources: [`api_keys/${key.key_id}`, ...sources], key }
  }

  /** @throws invalid_session */
  const findSession = async (tokenHash: string): Promise<ConsoleSessionView> => {
    const session = await consoleSessions.get(tokenHash)
    const now = clock.now().getTime()
    const isValid =
      session &&
      !session.incomplete &&
      Date.parse(session.expires_at) > now &&
      Date.parse(session.created_at) <= now + mostStepBackMs
    if (!isValid) throw refusal('invalid_session')
    return session
  }

  /** The platform's key may have been changed since. @throws invalid_session */
  const platformAccessOf = ({ platform_key_hash }: ConsoleSessionView) => {
    if (!superAdminHash || !platform_key_hash || !sameSecret(platform_key_hash, superAdminHash))
      throw refusal('invalid_session')
    return { access: platformAccess, until: Number.POSITIVE_INFINITY, sources: [] }
  }

  /** What the session's key, or its user, may do. @throws invalid_session */
  const readSession = async (
    session: ConsoleSessionView,
    requestedId: string | undefined,
  ): Promise<Omit<Known, 'readAt'>> => {
    const { user_id: userId, key_id: keyId } = session
    if (userId === null) return platformAccessOf(session)
    if (keyId === null) return read(rightOf(userId, session), requestedId)
    const key = await apiKeys.get(keyId)
    if (!key || key.incomplete) throw refusal('invalid_session')
    const { sources, ...known } = await read(key, requestedId)
    return { ...known, key, sources: [`api_keys/${keyId}`, ...sources] }
  }

  const readToken = async (token: string, requestedId: string | undefined): Promise<Known> => {
    const readAt = clock.monotonic()
    const tokenHash = hashConsoleToken(token)
    const session = await findSession(tokenHash)
    const { access, until, sources, key } = await readSession(session, requestedId).catch(
      (error) => {
        const isOver = error instanceof Refusal && error.code === 'invalid_api_key'
        throw isOver ? refusal('invalid_session') : error
      },
    )
    const { expires_at: expiresAt } = session
    const consoleSession: ConsoleSession = { tokenHash, expiresAt }
    return {
      access: { ...access, consoleSession },
      until: Math.min(until, Date.parse(expiresAt)),
      readAt,
      sources: [`console_sessions/${tokenHash}`, ...sources],
      key,
    }
  }

  const findByToken = (
    token: string,
    requestedId: string | undefined,
  ): Access | Promise<Access> => {
    if (!tokenForm.test(token)) throw refusal('invalid_session')
    const cacheKey = `console ${digestOf(token)} ${requestedId ?? ''}`
    const cached = cache.get(cacheKey, clock.monotonic())
    if (!cached) return cache.fill(cacheKey, () => readToken(token, requestedId))
    if (cached.until <= clock.now().getTime()) throw refusal('invalid_session')
    return cached.access
  }

  const find = (
    apiKey: string | undefined,
    organizationHeader: string | undefined,
    consoleToken?: string,
  ): Access | Promise<Access> => {
    const requestedId = organizationHeader || undefined
    if (!apiKey && consoleToken !== undefined) return findByToken(consoleToken, requestedId)
    if (!apiKey) throw refusal('missing_api_key')
    const digest = digestOf(apiKey)
    const cacheKey = requestedId ? `${digest} ${requestedId}` : digest
    const cached = cache.get(cacheKey, clock.monotonic())
    if (cached && cached.until <= clock.now().getTime()) throw refusal('invalid_api_key')
    if (cached) return cached.access
    const hash = hashApiKey(apiKey)
    if (superAdminHash && sameSecret(hash, superAdminHash)) return platformAccess
    const { keyId } = cache.outdated(cacheKey)?.access ?? {}
    return cache.fill(cacheKey, () => readKey(hash, requestedId, keyId ?? undefined))
  }

  return { find, close: cache.close }
}
