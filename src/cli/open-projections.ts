import type { Environment } from '../config.ts'
import { CommandFailed } from './command-failed.ts'
import type { Projections } from './projections.ts'
import { remote } from './remote.ts'
import { remoteProjections } from './remote-projections.ts'

/** Through the server at a URL, else from the configured stores. @throws CommandFailed */
export const openProjections = async (
  env: Environment,
  url: string | undefined,
): Promise<Projections> => {
  if (!url) {
    const { localProjections } = await import('./local-projections.ts')
    return localProjections(env)
  }
  if (!env.SUPER_ADMIN_KEY) throw new CommandFailed('SUPER_ADMIN_KEY must be set to ask a server')
  return remoteProjections(remote(url, env.SUPER_ADMIN_KEY))
}
