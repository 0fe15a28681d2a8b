import type { OrganizationView } from '../projections/organizations.ts'
import type { View } from '../src/ports/views.ts'
import { type Page, paging, skipTo } from './page.ts'

/** All organizations, the oldest first; for the platform. */
export const listOrganizations =
  ({ organizations }: { organizations: View<OrganizationView> }) =>
  async (page: Page) => {
    const skip = skipTo(page)
    const { items, total } = await organizations.find({
      index: 'all',
      equals: [],
      skip,
      limit: page.pageSize,
    })
    return { organizations: items, ...paging(total, page) }
  }
export type ListOrganizations = ReturnType<typeof listOrganizations>
