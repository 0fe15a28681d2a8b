import { type Aggregate, type EventOf, platformStreamOf } from '../aggregate.ts'
import type { Sealed } from '../sealed.ts'
import { installationEvents } from './events.ts'

/** What proves that the keys at hand are those of the stored events. */
export type Installation = { check: Sealed | undefined }

/** The installation as a whole: one for each store of events. */
export const installation: Aggregate<Installation, typeof installationEvents> = {
  category: 'installation',
  events: installationEvents,
  initial: { check: undefined },
  evolve: {
    KeysRegistered: (_, { check }) => ({ check }),
    OutageEnded: (state) => state,
  },
}

/** The stream of the installation: `installation-keys`. */
export const installationStream = platformStreamOf(installation, 'keys')

type InstallationEvent<Type extends keyof typeof installationEvents> = EventOf<
  typeof installationEvents,
  Type
>

/** Keys are registered once. */
export const decideRegisterKeys =
  (check: Sealed) =>
  (state: Installation): InstallationEvent<'KeysRegistered'>[] =>
    state.check ? [] : [{ type: 'KeysRegistered', data: { check } }]

/** An outage that this process has seen, from its first failed append on. */
export const decideRecordOutage = (from: string) => (): [InstallationEvent<'OutageEnded'>] => [
  { type: 'OutageEnded', data: { from } },
]
