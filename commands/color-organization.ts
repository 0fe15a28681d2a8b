import { decideColor, organizationStream } from '../src/domain/organization/organization.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

/** `#rrggbb`; null: none. @throws organization_not_found */
export const colorOrganization =
  ({ transact }: { transact: Transact }) =>
  async ({ color }: { color: string | null }, call: Call) => {
    const stream = organizationStream(call.organizationId)
    const { position } = await transact(stream, decideColor(color), call)
    return { position }
  }
export type ColorOrganizationCommand = ReturnType<typeof colorOrganization>
