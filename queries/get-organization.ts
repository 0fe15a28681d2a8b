import type { OrganizationView } from '../projections/organizations.ts'
import { refusal } from '../src/domain/refusal.ts'
import type { View } from '../src/ports/views.ts'

/** @throws organization_not_found */
export const getOrganization =
  ({ organizations }: { organizations: View<OrganizationView> }) =>
  async (organizationId: string): Promise<OrganizationView> => {
    const organization = await organizations.get(organizationId)
    if (!organization) throw refusal('organization_not_found')
    return organization
  }
export type GetOrganization = ReturnType<typeof getOrganization>
