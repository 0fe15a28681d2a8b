import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { GetOrganization } from '../../../queries/get-organization.ts'
import { platformId } from '../../domain/event.ts'
import type { RefusalCode } from '../../domain/refusal-words.ts'
import type { RouteRules } from '../server/route-rules.ts'
import { pathId } from '../wire/fields.ts'
import { inOrganization } from './in-organization.ts'

/**
 * Whose history routes are about, and who may ask: the same routes serve an organization's and the
 * platform's own.
 */
export type HistoryOwner = {
  /** Their path under /api/admin. */
  at: string
  params: z.ZodObject
  rules: Pick<RouteRules, 'scopes' | 'managers' | 'platform'>
  /** Their refusals, besides those that every route has. */
  refused: readonly RefusalCode[]
  /** What a route does, with whose history it is. */
  summary(text: string): string
  /**
   * The `organization_id` of the events.
   * @throws organization_access_denied, organization_not_found
   */
  of(request: FastifyRequest): Promise<string>
}

const named = z.object({ organization_id: pathId })

/** An organization's history: for its managers, and the platform. */
export const organizationHistory = ({
  getOrganization,
}: {
  getOrganization: GetOrganization
}): HistoryOwner => ({
  at: '/organizations/:organization_id/audit',
  params: named,
  rules: { scopes: ['admin:read'], managers: true },
  refused: ['role_required', 'organization_not_found'],
  summary: (text) => text,
  async of(request) {
    const { organization_id } = named.parse(request.params)
    const { organizationId } = inOrganization(request, organization_id)
    await getOrganization(organizationId)
    return organizationId
  },
})

/** What belongs to no organization: for the platform's key alone. */
export const platformHistory: HistoryOwner = {
  at: '/platform/audit',
  params: z.object({}),
  rules: { platform: true },
  refused: ['platform_only'],
  summary: (text) => `${text} (the platform’s own history)`,
  of: async () => platformId,
}
