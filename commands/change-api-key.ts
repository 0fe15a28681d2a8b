import {
  decideChange,
  organizationKeyStream,
  userKeyStream,
} from '../src/domain/api-key/api-key.ts'
import type { ApiKeySettings } from '../src/domain/api-key/events.ts'
import type { Scope } from '../src/domain/api-key/scopes.ts'
import type { Change } from '../src/domain/changes.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

export type ChangeApiKey = {
  keyId: string
  type: 'organization' | 'user'
  change: Change<Omit<ApiKeySettings, 'scopes'> & { scopes: Scope[] }>
}

/** Changes a key of the call's organization, or a user key. @throws key_not_found, invalid_input */
export const changeApiKey =
  (transact: Transact) =>
  async ({ keyId, type, change }: ChangeApiKey, call: Call) => {
    const stream =
      type === 'user' ? userKeyStream(keyId) : organizationKeyStream(call.organizationId, keyId)
    const { position } = await transact(stream, decideChange(change, call.at), call)
    return { position }
  }
export type ChangeApiKeyCommand = ReturnType<typeof changeApiKey>
