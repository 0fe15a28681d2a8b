import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { z } from 'zod'
import { rootRoute } from '../../root-route.tsx'

const overviewRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  validateSearch: z.object({
    range: z.enum(['7', '14', '30', '90']).optional().catch(undefined),
    by: z.enum(['agent', 'model']).optional().catch(undefined),
  }),
  component: lazyRouteComponent(() => import('./overview-screen.tsx'), 'OverviewScreen'),
})

export const overviewRoutes = [overviewRoute] as const
