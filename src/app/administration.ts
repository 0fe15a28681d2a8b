import { adminPart } from './admin.ts'
import { auditPart } from './audit.ts'
import { provisioningPart } from './provisioning.ts'
import type { Parts, TurnEngine } from './turn-engine.ts'

/** Organizations, users, agents and their configuration. */
const provisioningOf = ({ host, writing, reading }: Parts, { chat, tools }: TurnEngine) => {
  const { commands, secrets, vault } = writing
  const { routeCommands, views } = reading
  return provisioningPart({
    config: host.config,
    commands,
    routeCommands,
    views,
    findAgents: chat.findAgents,
    secrets,
    open: vault.open,
    hostsOf: tools.hostsOf,
    eraseSessions: chat.eraseSessions,
    clock: host.clock,
  })
}

const adminOf = ({ storage, writing, reading, access }: Parts, { tools }: TurnEngine) =>
  adminPart({
    commands: reading.routeCommands,
    views: reading.views,
    open: writing.vault.open,
    hashSubject: writing.secrets.hashSubject,
    writes: reading.writes,
    rebuilding: reading.rebuilding,
    rotation: storage.rotation,
    storage: access.storage,
    schemaFault: tools.schemas.faultOf,
    addressFault: tools.addressFault,
    mcp: tools.mcp,
  })

const auditOf = ({ host, storage, writing, reading }: Parts) =>
  auditPart({
    events: storage.stores.events,
    documents: reading.documents,
    organizations: reading.views.organizations,
    reads: reading.later.reads,
    projecting: reading.projecting,
    logKeySeed: writing.secrets.logKeySeed,
    open: writing.vault.open,
    buffers: host.buffers,
    log: host.log,
  })

/** The routes of administrators, operators and auditors. */
export const administration = (parts: Parts, engine: TurnEngine) => ({
  provisioning: provisioningOf(parts, engine),
  admin: adminOf(parts, engine),
  audit: auditOf(parts),
})

export type Administration = ReturnType<typeof administration>
