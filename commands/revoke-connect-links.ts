import { connectStream, decideRevokeLinks } from '../src/domain/connect/connect.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

/** Ends all links of a user that still hold; `revoked` is how many. */
export const revokeConnectLinks =
  ({ transact }: { transact: Transact }) =>
  async ({ userId }: { userId: string }, call: Call) => {
    const stream = connectStream(call.organizationId, userId)
    const { events, position } = await transact(stream, decideRevokeLinks(call.at), call)
    const revoked = events.reduce((sum, { data }) => sum + data.linkIds.length, 0)
    return { revoked, position }
  }
export type RevokeConnectLinksCommand = ReturnType<typeof revokeConnectLinks>
