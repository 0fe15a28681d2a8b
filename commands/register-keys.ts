import { despiteUnreadable } from '../src/domain/aggregate.ts'
import { decideRegisterKeys, installationStream } from '../src/domain/installation/installation.ts'
import type { Sealed } from '../src/domain/sealed.ts'
import type { Load, Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import { installationKey, type Vault } from '../src/security/vault.ts'

type Uses = { load: Load; transact: Transact; seal: Vault['seal'] }

/** Registers the keys at hand as those of the stored events, unless others are registered. */
export const registerKeys =
  ({ load, transact, seal }: Uses) =>
  async (call: Call): Promise<{ check: Sealed }> => {
    // If this is refused, the server does not start.
    const stream = despiteUnreadable(installationStream)
    const { state } = await load(stream)
    if (state.check) return { check: state.check }
    const check = await seal(installationKey, 'reprise')
    const registered = await transact(stream, decideRegisterKeys(check), call)
    return { check: registered.state.check ?? check }
  }
export type RegisterKeysCommand = ReturnType<typeof registerKeys>
