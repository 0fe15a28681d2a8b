import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { z } from 'zod'
import { rootRoute } from '../../root-route.tsx'

const approvalsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/approvals',
  validateSearch: z.object({
    tab: z.enum(['in_doubt']).optional().catch(undefined),
    status: z
      .enum(['all', 'approved', 'denied', 'expired', 'withdrawn'])
      .optional()
      .catch(undefined),
    of: z.enum(['me']).optional().catch(undefined),
    page: z.coerce.number().int().min(2).optional().catch(undefined),
  }),
  component: lazyRouteComponent(() => import('./approvals-screen.tsx'), 'ApprovalsScreen'),
})

const approvalRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/approvals/$approvalId',
  component: lazyRouteComponent(() => import('./approval-screen.tsx'), 'ApprovalScreen'),
})

export const approvalsRoutes = [approvalsRoute, approvalRoute] as const
