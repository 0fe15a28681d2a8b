import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openStores, type Stores } from '../app/stores.ts'
import type { Config } from '../config.ts'
import type { Log } from '../ports/log.ts'
import { CommandFailed } from './command-failed.ts'

const log: Log = {
  info: () => undefined,
  warn: (_, text) => process.stderr.write(`${text}\n`),
  error: (_, text) => process.stderr.write(`${text}\n`),
}

/**
 * The configured stores, without a server. @throws CommandFailed, which names the command that asks
 * the server
 */
export const localStores = async (config: Config, askTheServer: string): Promise<Stores> => {
  const { DATA_DIR, EVENTSTORE_URL } = config
  if (!EVENTSTORE_URL && !existsSync(join(DATA_DIR, 'log')))
    throw new CommandFailed(`${DATA_DIR} holds no events: set DATA_DIR, or start the server once`)
  try {
    return await openStores(config, log)
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'StoreInUse') throw error
    throw new CommandFailed(`${error.message}. Where that is a running server, ${askTheServer}`)
  }
}
