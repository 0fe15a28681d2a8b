import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { z } from 'zod'
import { rootRoute } from '../../root-route.tsx'
import { runFilters } from './filters.ts'

const runsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/runs',
  validateSearch: runFilters.extend({ cursor: z.string().max(200).optional().catch(undefined) }),
  component: lazyRouteComponent(() => import('./runs-screen.tsx'), 'RunsScreen'),
})

export const runsRoutes = [runsRoute] as const
