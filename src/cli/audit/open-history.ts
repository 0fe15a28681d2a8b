import type { Environment } from '../../config.ts'
import { CommandFailed } from '../command-failed.ts'
import type { History } from './history.ts'
import { remoteHistory } from './remote-history.ts'

type HistorySource = { organization: string; url?: string | undefined; key?: string | undefined }

/** Through the server at a URL, else from the configured stores. @throws CommandFailed */
export const openHistory = async (
  env: Environment,
  { organization, url, key = env.REPRISE_API_KEY || env.SUPER_ADMIN_KEY }: HistorySource,
): Promise<History> => {
  if (!url) {
    const { localHistory } = await import('./local-history.ts')
    return localHistory(env, organization)
  }
  if (!key)
    throw new CommandFailed(
      '--key, REPRISE_API_KEY (with admin:read) or SUPER_ADMIN_KEY must be set to ask a server',
    )
  return remoteHistory({ url, key, organization })
}
