import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { z } from 'zod'
import { rootRoute } from '../../root-route.tsx'

const feedsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/feeds',
  component: lazyRouteComponent(() => import('./feeds-screen.tsx'), 'FeedsScreen'),
})

const feedRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/feeds/$readModel',
  validateSearch: z.object({ tab: z.enum(['live', 'schema', 'read']).optional().catch(undefined) }),
  component: lazyRouteComponent(() => import('./feed-screen.tsx'), 'FeedScreen'),
})

export const feedsRoutes = [feedsRoute, feedRoute] as const
