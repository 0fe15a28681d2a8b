import type { OrganizationView } from '../projections/organizations.ts'
import { problem } from '../src/domain/problems.ts'
import type { View } from '../src/ports/views.ts'

/** @throws organization_not_found */
export const getOrganization =
  (organizations: View<OrganizationView>) =>
  async (organizationId: string): Promise<OrganizationView> => {
    const found = await organizations.get(organizationId)
    if (!found) throw problem('organization_not_found')
    return found
  }
export type GetOrganization = ReturnType<typeof getOrganization>
