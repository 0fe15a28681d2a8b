import type { RememberCommand } from '../../commands/remember.ts'
import type { CredentialView } from '../../projections/credentials.ts'
import type { MemoryView } from '../../projections/memories.ts'
import { findCredential } from '../../queries/find-credential.ts'
import { recallMemories } from '../../queries/recall-memories.ts'
import { guardedOutbound } from '../adapters/outbound/guarded.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../ports/clock.ts'
import type { ContentGeneration } from '../ports/content-generation.ts'
import type { Knowledge } from '../ports/knowledge.ts'
import type { View } from '../ports/views.ts'
import type { Vault } from '../security/vault.ts'
import { toolbox } from '../tools/toolbox.ts'

type Uses = {
  config: Pick<Config, 'API_CALL_ALLOW_HOSTS'>
  remember: RememberCommand
  credentials: View<CredentialView>
  memories: View<MemoryView>
  open: Vault['open']
  clock: Clock
  knowledge?: Knowledge
  contentGeneration?: ContentGeneration
}

/** What agents can call, and what they call it over. */
export const toolsFrom = ({ config, credentials, memories, open, ...uses }: Uses) => {
  const outbound = guardedOutbound({ allowHosts: config.API_CALL_ALLOW_HOSTS })
  const tools = toolbox({
    ...uses,
    outbound,
    findCredential: findCredential({ credentials, open }),
    recallMemories: recallMemories({ memories, open }),
  })
  return {
    toolsOf: tools.toolsOf,
    /** Ends what is under way. */
    async close(): Promise<void> {
      await tools.close()
      await outbound.close()
    },
  }
}
