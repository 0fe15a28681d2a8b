import { despiteUnreadable } from '../src/domain/aggregate.ts'
import { latest } from '../src/domain/event.ts'
import { decideErasePersonalData, memberStream } from '../src/domain/member/member.ts'
import { decideEraseAccount, isOnlyOf, userStream } from '../src/domain/user/user.ts'
import type { Streams } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import type { DestroyKey } from '../src/security/destroy-key.ts'
import { memberKey, userKey } from '../src/security/vault.ts'
import type { EraseCredentialsCommand } from './erase-credentials.ts'
import type { EraseMemoriesCommand } from './erase-memories.ts'
import { eraseUnderKey } from './erase-under-key.ts'

type Uses = Streams & {
  eraseMemories: EraseMemoriesCommand
  eraseCredentials: EraseCredentialsCommand
  destroyKey: DestroyKey
}

type Person = { userId: string }

/**
 * Erases what the call's organization has of a person besides conversations: memories, credentials,
 * and the name and address that it invited her with. The account's own name and address go too
 * where no other organization and no sign-in has to do with it. Each key is destroyed before its
 * event, so that what a crash cuts short is completed when asked for again.
 */
export const erasePersonalData = (uses: Uses) => {
  const { load, transact, destroyKey } = uses
  const erase = eraseUnderKey(uses)

  const eraseAccount = (userId: string, call: Call) =>
    erase(
      {
        userId,
        stream: userStream(userId),
        keyOf: (generation) => userKey(userId, generation),
        mayErase: (state) => isOnlyOf(state, call.organizationId),
        decide: decideEraseAccount,
      },
      call,
    )

  return async ({ userId }: Person, call: Call) => {
    const { organizationId } = call
    const memories = await uses.eraseMemories({ userId }, call)
    const credentials = await uses.eraseCredentials({ userId }, call)
    const account = await eraseAccount(userId, call)
    const stream = despiteUnreadable(memberStream(organizationId, userId))
    const { inUse, generation } = (await load(stream)).state.key
    const invitationKey = memberKey(organizationId, userId, generation)
    const invitation = inUse
      ? await destroyKey(invitationKey, { generation, userId }, call)
      : undefined

    const others = [memories, credentials, account].flatMap(({ erased = [] }) => erased)
    const done = await transact(stream, decideErasePersonalData(others, invitation), call)
    const { position } = done
    return {
      erased: done.events[0]?.data,
      position: latest(position, memories.position, credentials.position, account.position),
    }
  }
}
export type ErasePersonalDataCommand = ReturnType<typeof erasePersonalData>
