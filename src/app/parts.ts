import type { Access } from './access.ts'
import type { Host } from './host.ts'
import type { Meters } from './meters.ts'
import type { Reading } from './reading.ts'
import type { InternalCommands } from './route-commands.ts'
import type { Storage } from './storage.ts'
import type { Writing } from './writing.ts'

/** The parts below the features, in the order in which they are opened. */
export type Parts = {
  host: Host
  storage: Storage
  /** The commands of routes are in `reading`: they wait for the read models. */
  writing: Omit<Writing, 'commands'> & { commands: InternalCommands }
  reading: Reading
  access: Access
  meters: Meters
}
