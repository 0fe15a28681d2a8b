import {
  decideChange,
  organizationKeyStream,
  userKeyStream,
} from '../src/domain/api-key/api-key.ts'
import type { ApiKeySettings } from '../src/domain/api-key/events.ts'
import type { Scope } from '../src/domain/api-key/scopes.ts'
import type { KeyGiver } from '../src/domain/api-key/who-may.ts'
import type { Change } from '../src/domain/changes.ts'
import { organizationStream } from '../src/domain/organization/organization.ts'
import type { Streams } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

export type ChangeApiKey = {
  keyId: string
  type: 'organization' | 'user'
  change: Change<Omit<ApiKeySettings, 'scopes'> & { scopes: Scope[] }>
  by: KeyGiver
}

/**
 * Changes a key of the call's organization, or a user key.
 * @throws key_not_found, owner_required, scope_not_allowed, invalid_input
 */
export const changeApiKey =
  ({ load, transact }: Streams) =>
  async ({ keyId, type, change, by }: ChangeApiKey, call: Call) => {
    const stream =
      type === 'user' ? userKeyStream(keyId) : organizationKeyStream(call.organizationId, keyId)
    const { owners } = (await load(organizationStream(call.organizationId))).state
    const { position } = await transact(stream, decideChange(change, by, owners, call.at), call)
    return { position }
  }
export type ChangeApiKeyCommand = ReturnType<typeof changeApiKey>
