import { decideUse, organizationKeyStream, userKeyStream } from '../src/domain/api-key/api-key.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

export type KeyUsage = {
  keyId: string
  type: 'organization' | 'user'
  requests: number
  /** ISO 8601. */
  lastUsedAt: string
}

/** Notes a batch of requests that were made with a key. */
export const recordKeyUsage =
  ({ transact }: { transact: Transact }) =>
  async ({ keyId, type, ...usage }: KeyUsage, call: Call) => {
    const { organizationId } = call
    const stream =
      type === 'user' ? userKeyStream(keyId) : organizationKeyStream(organizationId, keyId)
    const { position } = await transact(stream, decideUse(usage), call)
    return { position }
  }
export type RecordKeyUsageCommand = ReturnType<typeof recordKeyUsage>
