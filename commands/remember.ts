import { decideRemember, isErasedSince, memoryStream } from '../src/domain/memory/memory.ts'
import type { Sealed } from '../src/domain/sealed.ts'
import type { Streams } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import type { Clock } from '../src/ports/clock.ts'
import { memoryKey, type Vault } from '../src/security/vault.ts'

export type Remember = {
  userId: string
  text: string
  /** When the turn began, in ISO 8601. Default: now. */
  turnBeganAt?: string
}

const spaces = /\s+/g
const plain = (text: string): string =>
  text.normalize().replace(spaces, ' ').trim().toLocaleLowerCase('en')

/**
 * Stores a text for a user in the call's organization, once regardless of case and white space.
 * `isErased`: not stored, since all memories were erased after the turn began or the text was
 * sealed. @throws KeyDestroyed while the memories are being erased
 */
export const remember =
  ({ load, transact, clock, keyed }: Streams & { clock: Clock; keyed: Vault['keyed'] }) =>
  async ({ userId, text, turnBeganAt }: Remember, call: Call) => {
    const stream = memoryStream(call.organizationId, userId)
    const { generation } = (await load(stream)).state.key
    const key = await keyed(memoryKey(call.organizationId, userId, generation))
    const remembered = { memoryId: clock.id(), text: key.seal(text) }
    const wanted = plain(text)
    const isSame = (memory: Sealed) => plain(key.open(memory)) === wanted
    const of = { turnBeganAt: turnBeganAt ?? call.at, generation }
    const decide = decideRemember(remembered, isSame, of)
    const { events, state, position } = await transact(stream, decide, call)
    const stored = events.length > 0
    return { stored, isErased: !stored && isErasedSince(state, of), position }
  }
export type RememberCommand = ReturnType<typeof remember>
