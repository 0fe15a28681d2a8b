import { findCredential, type HostsOf } from '../../queries/find-credential.ts'
import { recallMemories } from '../../queries/recall-memories.ts'
import { addressRules } from '../adapters/outbound/address-rules.ts'
import { guardedOutbound } from '../adapters/outbound/guarded.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../ports/clock.ts'
import type { ContentGeneration } from '../ports/content-generation.ts'
import type { JsonSchemas } from '../ports/json-schemas.ts'
import type { Knowledge } from '../ports/knowledge.ts'
import type { Vault } from '../security/vault.ts'
import { opening } from '../support/disposal.ts'
import { toolbox } from '../tools/toolbox.ts'
import type { Commands } from './commands.ts'
import type { AllViews } from './read-models.ts'

type Uses = {
  config: Pick<Config, 'API_CALL_ALLOW_HOSTS'>
  remember: Commands['remember']
  views: Pick<AllViews, 'credentials' | 'memories'>
  open: Vault['open']
  hostsOf: HostsOf
  misfitOf: JsonSchemas['misfitOf']
  clock: Clock
  knowledge: Knowledge
  contentGeneration: ContentGeneration
}

/** The tools that agents can call, and the guarded connections to the outside. */
export const openTools = (uses: Uses) =>
  opening(async (opened) => {
    const {
      config,
      remember,
      views,
      open,
      hostsOf,
      misfitOf,
      clock,
      knowledge,
      contentGeneration,
    } = uses
    const { credentials, memories } = views
    const allowHosts = config.API_CALL_ALLOW_HOSTS
    const outbound = opened.use(guardedOutbound({ allowHosts }))
    const { toolsOf, mcp } = opened.use(
      toolbox({
        outbound,
        findCredential: findCredential({ credentials, hostsOf, open }),
        remember,
        recallMemories: recallMemories({ memories, open }),
        misfitOf,
        clock,
        knowledge,
        contentGeneration,
      }),
    )
    return { toolsOf, mcp, addressFault: addressRules({ allowHosts }).faultOf }
  })
