import { decideRename, organizationStream } from '../src/domain/organization/organization.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

/** @throws organization_not_found */
export const renameOrganization =
  ({ transact }: { transact: Transact }) =>
  async ({ name }: { name: string }, call: Call) => {
    const stream = organizationStream(call.organizationId)
    const { position } = await transact(stream, decideRename(name), call)
    return { position }
  }
export type RenameOrganizationCommand = ReturnType<typeof renameOrganization>
