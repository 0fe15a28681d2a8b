import { findCredential } from '../../queries/find-credential.ts'
import { recallMemories } from '../../queries/recall-memories.ts'
import { addressRules } from '../adapters/outbound/address-rules.ts'
import { guardedOutbound } from '../adapters/outbound/guarded.ts'
import { consentedHosts } from '../event-sourcing/consented-hosts.ts'
import type { ContentGeneration } from '../ports/content-generation.ts'
import type { Knowledge } from '../ports/knowledge.ts'
import { opening } from '../support/disposal.ts'
import { jsonSchemas } from '../tools/json-schemas.ts'
import { toolbox } from '../tools/toolbox.ts'
import type { Parts } from './parts.ts'

/** What tools of the platform itself work with. */
type Uses = { knowledge: Knowledge; contentGeneration: ContentGeneration }

/**
 * The tools that agents can call, the schemas that their arguments are checked against, and the
 * guarded connections to the outside.
 */
export const openTools = (
  { host, storage, writing, reading }: Parts,
  { knowledge, contentGeneration }: Uses,
) =>
  opening(async (opened) => {
    const { open } = writing.vault
    const { credentials, memories } = reading.views
    const allowHosts = host.config.API_CALL_ALLOW_HOSTS
    const schemas = opened.use(jsonSchemas())
    const hostsOf = consentedHosts(storage.stores.events.read)
    const outbound = opened.use(guardedOutbound({ allowHosts }))
    const { toolsOf, mcp } = opened.use(
      toolbox({
        outbound,
        findCredential: findCredential({ credentials, hostsOf, open }),
        remember: writing.commands.remember,
        recallMemories: recallMemories({ memories, open }),
        misfitOf: schemas.misfitOf,
        clock: host.clock,
        knowledge,
        contentGeneration,
      }),
    )
    return { schemas, hostsOf, toolsOf, mcp, addressFault: addressRules({ allowHosts }).faultOf }
  })

export type AgentTools = Awaited<ReturnType<typeof openTools>>
