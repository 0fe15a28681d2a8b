import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../root-route.tsx'

const overviewRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./overview-screen.tsx'), 'OverviewScreen'),
})

export const overviewRoutes = [overviewRoute] as const
