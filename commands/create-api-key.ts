import {
  decideCreate,
  decideWithdraw,
  organizationKeyStream,
  requireCreator,
  userKeyStream,
} from '../src/domain/api-key/api-key.ts'
import type { ApiKeyEvent } from '../src/domain/api-key/events.ts'
import { defaultScopes, provisioningScopes, type Scope } from '../src/domain/api-key/scopes.ts'
import type { KeyGiver } from '../src/domain/api-key/who-may.ts'
import { latest } from '../src/domain/event.ts'
import { decideAddKey, keyringStream } from '../src/domain/keyring/keyring.ts'
import { memberStream, requireBacking } from '../src/domain/member/member.ts'
import { organizationStream, requireOrganization } from '../src/domain/organization/organization.ts'
import { userStream } from '../src/domain/user/user.ts'
import type { Streams } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import type { Clock } from '../src/ports/clock.ts'
import { newApiKey, type Secrets } from '../src/security/secrets.ts'

type Uses = Streams & { clock: Clock; hashApiKey: Secrets['hashApiKey'] }

export type CreateApiKey = {
  type: 'organization' | 'user'
  name: string
  description: string
  /** Default: those of its type that may be given (docs/contract/authentication.md#scopes). */
  scopes?: readonly Scope[] | undefined
  rateLimitMinute: number
  rateLimitHour: number
  /** ISO 8601 in UTC; null: never. */
  expiresAt: string | null
  provisioning: boolean
  /** The backing user. Default: the caller; for the platform, the owner. */
  userId?: string | undefined
  /** Where the id has to be known beforehand. */
  keyId?: string
  by: KeyGiver
}

type Created = ApiKeyEvent<'ApiKeyCreated'>['data']

/**
 * Creates a key of the call's organization, or of a user. Only the answer contains the key itself.
 * @throws organization_not_found, member_not_found, member_pending, owner_required,
 * backing_not_allowed, user_key_required, not_own_user_key, scope_not_allowed,
 * key_limit_reached, invalid_input
 */
export const createApiKey = ({ load, transact, clock, hashApiKey }: Uses) => {
  /**
   * The key first, then its place in the keyring. A crash between the two leaves a key whose secret
   * was never returned.
   */
  const createUserKey = async (keyId: string, data: Created, by: KeyGiver, call: Call) => {
    const { userId, expiresAt } = data
    const ring = keyringStream(userId)
    const decide = decideAddKey({ keyId, expiresAt }, call.at)
    decide((await load(ring)).state)
    const stream = userKeyStream(keyId)
    const created = await transact(stream, decideCreate(data, by, call.at), call)
    try {
      const added = await transact(ring, decide, call)
      return { at: created.at, position: latest(added.position, created.position) }
    } catch (error) {
      await transact(stream, decideWithdraw, call)
      throw error
    }
  }

  const createOrganizationKey = async (keyId: string, data: Created, by: KeyGiver, call: Call) => {
    const stream = organizationKeyStream(call.organizationId, keyId)
    return transact(stream, decideCreate(data, by, call.at), call)
  }

  return async ({ userId: backer, keyId = clock.id(), by, ...input }: CreateApiKey, call: Call) => {
    const { type, provisioning, scopes: named, ...settings } = input
    const requested = named ?? defaultScopes[type].filter((scope) => by.grantable.has(scope))
    const scopes = [...new Set([...requested, ...(provisioning ? provisioningScopes : [])])]
    const { organizationId } = call
    const organization = await load(organizationStream(organizationId))
    requireOrganization(organization.state)
    const userId = backer ?? call.userId ?? organization.state.owners[0] ?? ''
    const own = userId === call.userId
    requireCreator({ type, userId, scopes }, by)
    const account = own || by.platform ? undefined : await load(userStream(userId))
    const createdHere = account?.state.createdBy === organizationId
    const backing = requireBacking({ ...by, own, createdHere })
    backing((await load(memberStream(organizationId, userId))).state)
    const key = newApiKey(type === 'user' ? 'user' : 'live')
    const data: Created = {
      ...settings,
      hash: hashApiKey(key),
      last4: key.slice(-4),
      type,
      userId,
      provisioning,
      scopes,
    }
    const create = type === 'user' ? createUserKey : createOrganizationKey
    const { at, position } = await create(keyId, data, by, call)
    const { hash: _, ...fields } = data
    return { keyId, key, ...fields, createdAt: at, position }
  }
}
export type CreateApiKeyCommand = ReturnType<typeof createApiKey>
