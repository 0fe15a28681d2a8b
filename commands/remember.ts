import { decideRemember, memoryStream } from '../src/domain/memory/memory.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import type { Clock } from '../src/ports/clock.ts'
import { memoryKey, type Vault } from '../src/security/vault.ts'

export type Remember = { userId: string; text: string }

const spaces = /\s+/g
const plain = (text: string): string =>
  text.normalize().replace(spaces, ' ').trim().toLocaleLowerCase('en')

/**
 * Keeps a text for a user in the call's organization; what says the same but for case and white
 * space is kept once. @throws KeyDestroyed once the user's memory is erased
 */
export const remember =
  ({ transact, clock, keyed }: { transact: Transact; clock: Clock; keyed: Vault['keyed'] }) =>
  async ({ userId, text }: Remember, call: Call) => {
    const key = await keyed(memoryKey(call.organizationId, userId))
    const remembered = { memoryId: clock.id(), text: key.seal(text) }
    const wanted = plain(text)
    const decide = decideRemember(remembered, (one) => plain(key.open(one)) === wanted)
    const stream = memoryStream(call.organizationId, userId)
    const { events, position } = await transact(stream, decide, call)
    return { stored: events.length > 0, position }
  }
export type RememberCommand = ReturnType<typeof remember>
