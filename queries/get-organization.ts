import type { OrganizationView } from '../projections/organizations.ts'
import { refusal } from '../src/domain/refusal.ts'
import type { View } from '../src/ports/views.ts'

/** @throws organization_not_found */
export const getOrganization =
  (organizations: View<OrganizationView>) =>
  async (organizationId: string): Promise<OrganizationView> => {
    const found = await organizations.get(organizationId)
    if (!found) throw refusal('organization_not_found')
    return found
  }
export type GetOrganization = ReturnType<typeof getOrganization>
